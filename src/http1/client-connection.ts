/** A client's connection: one request at a time, and its complete response before the next. */
import type { Socket } from 'bun';
import { type Answer, AnswerWriter, type Outcome, UnsayableHeader } from './answer.ts';
import { CR, LF } from './ascii.ts';
import { LongHead } from './bytes.ts';
import { type BodySource, ClientRequest } from './client-request.ts';
import { type BodyFraming, LargeHead, MalformedMessage, MessageReader, type MessageSink } from './message-reader.ts';
import { RequestFault } from './request-fault.ts';
import type { Beginning, RequestTurns } from './request-turns.ts';

/** What a connection needs of the server. */
export interface Keeper {
  /** Answers a request. Never throws or rejects. */
  answer(request: ClientRequest): Answer | Promise<Answer>;
  /** Answers bytes that cannot be parsed as a request. */
  refuse(fault: RequestFault): Answer;
  /** Reports an internal failure to the operator. */
  reportError(sentence: string, cause: unknown): void;
  readonly timeouts: Timeouts;
  /** Says when a request is handled. */
  readonly turns: Pick<RequestTurns, 'add'>;
  /** No more requests are accepted after the current ones. */
  isStopping: boolean;
  /** Called when the connection has closed. */
  lost(connection: ClientConnection): void;
}

/** Time limits in milliseconds. */
export interface Timeouts {
  /**
   * Between two requests. Longer than proxies in front keep idle connections, so that the server does not close one that is about to be
   * used.
   */
  idleMs: number;
  /** From the first byte of a request to the end of its head. */
  headMs: number;
  /** Between two arrivals of a body that is being read. */
  silenceMs: number;
  /** From the end of the head to the end of the body, without the time during which the body was not read. */
  bodyMs: number;
  /** The minimum average rate of a body after `bodyGraceMs`; 0: none. */
  bodyBytesPerSecond: number;
  bodyGraceMs: number;
  /** For a client to read more of its response. */
  flushMs: number;
  /** For a client that still sends after its last response: between two arrivals, and in total. */
  lingerMs: number;
  lingerWholeMs: number;
}

export const PATIENCE: Timeouts = {
  idleMs: 125_000,
  headMs: 30_000,
  silenceMs: 60_000,
  bodyMs: 1_800_000,
  bodyBytesPerSecond: 512,
  bodyGraceMs: 30_000,
  flushMs: 60_000,
  lingerMs: 2000,
  lingerWholeMs: 30_000,
};

/**
 * The maximum that a client may send after its response: a refused client, or a proxy in front of it, may read the response only after
 * sending the whole body.
 */
const LINGER_BYTES = 1024 ** 3;
/** Of pipelined requests. */
const MOST_EARLY_BYTES = 64 * 1024;
/** The rest of an unread body up to this size is skipped, so that the connection can be used again. */
const MOST_SKIPPED_BYTES = 64 * 1024;
const NEVER = Number.POSITIVE_INFINITY;
/** The first byte of a TLS handshake, sent by clients that assume an encrypted port. */
const TLS_HANDSHAKE = 22;

export class ClientConnection implements MessageSink, BodySource, Outcome, Beginning {
  /** Among the server's connections, or -1. Written by the server alone. */
  place = -1;
  /** By `performance.now()`: the time limit for the client's next bytes. */
  private deadline = NEVER;
  private readonly socket: Socket<ClientConnection>;
  private readonly keeper: Keeper;
  private readonly reader = new MessageReader(this);
  private readonly writer: AnswerWriter;
  /** The current request; `isEntered`: its handler has been called, or will be. */
  private request: ClientRequest | undefined;
  private isEntered = false;
  private isInHead = false;
  /** Bytes that arrived after it. */
  private early: Buffer | undefined;
  /** `100 Continue` was sent. */
  private isAsked = false;
  /** The rest of an unread body is being skipped. */
  private isSkipping = false;
  /** The connection closes after this response. */
  private isLast = false;
  /** Further bytes are ignored, because the start of the next message is unknown. */
  private isDeaf = false;
  /** Remaining bytes and time before the connection of a client that still sends is closed. */
  private lingering: number | undefined;
  private lingerEnd = 0;
  /** Of the current body: bytes received, its start if it does not come with its head, and since when it is not being read. */
  private bodyBytes = 0;
  private bodySince = NEVER;
  private pausedAt: number | undefined;
  private isOpen = true;

  constructor(socket: Socket<ClientConnection>, keeper: Keeper) {
    this.socket = socket;
    this.keeper = keeper;
    this.writer = new AnswerWriter(socket, this);
    this.reader.expect();
    this.wait('idleMs');
  }

  /** It waits for a request, or for the rest of an answered one. */
  private get isIdle(): boolean {
    return !this.request && !this.isInHead && this.lingering === undefined;
  }

  received(bytes: Buffer): void {
    if (this.lingering !== undefined) {
      this.lingering -= bytes.length;
      if (this.lingering < 0) this.drop();
      else this.wait('lingerMs');
    } else if (this.request?.body.isComplete) this.keepForLater(bytes);
    else if (!this.isDeaf) this.read(bytes);
  }

  private read(bytes: Buffer): void {
    try {
      const early = this.reader.read(bytes);
      if (early) this.keepForLater(early);
    } catch (thrown) {
      if (thrown instanceof MalformedMessage) this.refuse(thrown);
      else this.failed(thrown);
      return;
    }
    const { request } = this;
    if (request) {
      if (this.bodySince === NEVER && !request.body.isComplete) this.bodySince = performance.now();
      // While the body is not read, silence is not the client's fault.
      this.wait(request.body.isComplete || this.pausedAt !== undefined ? undefined : 'silenceMs');
      if (!this.isEntered) {
        this.isEntered = true;
        this.keeper.turns.add(this);
      }
    } else if (!this.isInHead && !this.isSkipping && this.reader.isWithin) {
      this.isInHead = true;
      this.wait('headMs');
      if (bytes[0] === TLS_HANDSHAKE) this.refuse(new MalformedMessage('TLS (https) is not supported on this port'));
    }
  }

  head(bytes: Buffer, from: number, to: number): BodyFraming {
    // An empty line before a request is ignored, as RFC 9112 section 2.2 requires.
    const start = bytes[from] === CR && bytes[from + 1] === LF ? from + 2 : from;
    if (start >= to) return 'interim';
    const request = new ClientRequest(bytes, start, to, this, this.socket);
    this.request = request;
    this.isInHead = false;
    this.bodyBytes = 0;
    this.bodySince = NEVER;
    return request.framing;
  }

  body(bytes: Uint8Array): void {
    this.bodyBytes += bytes.length;
    this.request?.body.push(bytes);
  }

  end(): void {
    this.request?.body.finish();
    if (this.isSkipping) this.turn();
  }

  begin(): void {
    const { request } = this;
    // The client may have left meanwhile.
    if (request && this.isOpen) void this.enter(request);
  }

  private async enter(request: ClientRequest): Promise<void> {
    try {
      // Never synchronous: otherwise each of a thousand pipelined requests would be answered inside the previous one.
      this.respond(request, await this.keeper.answer(request));
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  private respond(request: ClientRequest, answer: Answer): void {
    if (request.hasLeft) {
      cancelBody(answer);
      return;
    }
    // HTTP/1.0 has no chunks: a body of unknown length ends with its connection.
    const endsByClosing = request.isOld && isUnmeasured(answer);
    this.isLast ||= !request.keepsConnection || this.keeper.isStopping || endsByClosing || !this.canSkip(request);
    try {
      this.writer.begin(request, answer, !this.isLast);
    } catch (thrown) {
      if (!(thrown instanceof UnsayableHeader || thrown instanceof LongHead)) throw thrown;
      cancelBody(answer);
      this.keeper.reportError('An answer could not be sent.', thrown);
      this.isLast = true;
      const unsent = new RequestFault(500, 'The answer to this request could not be sent.');
      this.writer.begin(request, this.keeper.refuse(unsent), false);
    }
  }

  /** The unread rest of a body comes before the next request. */
  private canSkip({ body, waitsToSend }: ClientRequest): boolean {
    if (body.isComplete) return true;
    return body.length !== undefined && body.length <= MOST_SKIPPED_BYTES && (this.isAsked || !waitsToSend);
  }

  sent(): void {
    const isSkipping = this.request?.body.isComplete === false;
    this.request?.body.discard();
    this.request = undefined;
    this.isEntered = false;
    this.isAsked = false;
    if (this.isLast || this.keeper.isStopping) this.close();
    else if (isSkipping) {
      this.isSkipping = true;
      this.wait('silenceMs');
    } else this.turn();
  }

  /** Continues with the next request, which may have arrived already. */
  private turn(): void {
    this.isSkipping = false;
    this.reader.expect();
    this.wait('idleMs');
    const { early } = this;
    if (!early) return;
    this.early = undefined;
    if (early.length > MOST_EARLY_BYTES) this.socket.resume();
    this.read(early);
  }

  broken(cause: unknown): void {
    if (cause === undefined) this.drop();
    else this.failed(cause);
  }

  cutOff(): void {
    this.hangUp();
  }

  drained(): void {
    this.writer.drained();
  }

  /** An error in the gateway's own code: the state of the connection is unknown, so it is closed. */
  failed(cause: unknown): void {
    this.keeper.reportError('A connection failed.', cause);
    this.drop();
  }

  wanted(): void {
    const { request } = this;
    if (!request || request.body.isComplete) return;
    if (!this.isAsked && request.waitsToSend) {
      this.writer.askForBody();
      this.bodySince = performance.now();
    }
    this.isAsked = true;
    this.wait('silenceMs');
  }

  pause(): void {
    this.socket.pause();
    this.pausedAt = performance.now();
    this.wait(undefined);
  }

  resume(): void {
    if (this.pausedAt !== undefined) this.bodySince += performance.now() - this.pausedAt;
    this.pausedAt = undefined;
    this.socket.resume();
    this.wait('silenceMs');
  }

  private keepForLater(bytes: Buffer): void {
    this.early = this.early ? Buffer.concat([this.early, bytes]) : bytes;
    if (this.early.length > MOST_EARLY_BYTES) this.socket.pause();
  }

  /** Answers an invalid head, or passes the error to the reader of the body. */
  private refuse(fault: MalformedMessage): void {
    const status = fault instanceof LargeHead ? 431 : 400;
    this.giveUp(new RequestFault(status, `This is not a valid HTTP request: ${fault.message}.`));
  }

  private giveUp(fault: RequestFault): void {
    const { request } = this;
    this.isLast = true;
    this.isDeaf = true;
    this.wait(undefined);
    request?.body.broke(fault);
    if (this.isEntered) return;
    this.writer.begin(request, this.keeper.refuse(fault), false);
  }

  private wait(limit: 'idleMs' | 'headMs' | 'silenceMs' | 'lingerMs' | undefined): void {
    this.deadline = limit ? performance.now() + this.keeper.timeouts[limit] : NEVER;
    if (this.lingering !== undefined) this.deadline = Math.min(this.deadline, this.lingerEnd);
  }

  /** Checks the time limits. */
  look(now: number): void {
    try {
      if (this.writer.unsentSinceMs + this.keeper.timeouts.flushMs <= now) this.drop();
      else if (this.deadline <= now) this.expire();
      else if (this.request?.body.isComplete === false) this.lookAtBody(this.request, now);
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  private expire(): void {
    if (this.isIdle || this.lingering !== undefined) this.hangUp();
    else this.giveUp(new RequestFault(408, 'The request did not arrive completely in time.'));
  }

  /** A body that trickles in byte by byte is an attack. */
  private lookAtBody({ waitsToSend }: ClientRequest, now: number): void {
    const isWaited = this.pausedAt === undefined && (this.isAsked || !waitsToSend);
    if (!isWaited || this.isDeaf || this.lingering !== undefined) return;
    const { bodyMs, bodyBytesPerSecond, bodyGraceMs } = this.keeper.timeouts;
    const ms = now - this.bodySince;
    const isSlow = this.bodyBytes * 1000 < (ms - bodyGraceMs) * bodyBytesPerSecond;
    if (ms < bodyMs && !isSlow) return;
    const sentence = isSlow
      ? `The request's body arrived too slowly: the minimum is ${bodyBytesPerSecond} bytes per second.`
      : 'The request did not arrive completely in time.';
    this.giveUp(new RequestFault(408, sentence));
  }

  /** After the current request, or at once if there is none. */
  stop(): void {
    if (this.isIdle) this.hangUp();
    else this.isLast = true;
  }

  closed(): void {
    this.keeper.lost(this);
    if (!this.isOpen) return;
    this.isOpen = false;
    const { request } = this;
    if (!request) return;
    try {
      request.leave();
      request.body.broke(new RequestFault(400, 'The request ended before it was complete.'));
      this.writer.cancel();
    } catch (thrown) {
      this.keeper.reportError('The clean-up after a client disconnected has failed.', thrown);
    }
  }

  /** A client that is still sending could not read its response if the connection were closed now. */
  private close(): void {
    this.lingering = LINGER_BYTES;
    this.lingerEnd = performance.now() + this.keeper.timeouts.lingerWholeMs;
    this.wait('lingerMs');
    this.socket.resume();
    this.socket.shutdown();
  }

  /** Closes the connection; data that the client has not read yet is still delivered. */
  private hangUp(): void {
    // Over TLS, an end alone would wait for the client's own end without a time limit.
    this.socket.shutdown();
    this.socket.end();
    this.closed();
  }

  /** Closes the connection at once, also during a response. */
  drop(): void {
    this.socket.terminate();
    this.closed();
  }
}

function isUnmeasured({ headers, body }: Answer): boolean {
  return body instanceof Object && 'start' in body && headers['content-length'] === undefined;
}

function cancelBody({ body }: Answer): void {
  if (body instanceof Object && 'cancel' in body) body.cancel();
}
