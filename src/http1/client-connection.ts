/** A client's connection: one request at a time, its answer in full before the next. */
import type { Socket } from 'bun';
import { type Answer, UnsayableHeader } from './answer.ts';
import { AnswerWriter, type Outcome } from './answer-writer.ts';
import { ClientRequest } from './client-request.ts';
import { type Framing, LargeHead, MalformedMessage, MessageReader, type MessageSink } from './message-reader.ts';
import type { BodySource } from './request-body.ts';
import { RequestFault } from './request-fault.ts';

/** What a connection asks of those who serve it. */
export interface Keeper {
  /** Answers a request; never throws, never rejects. */
  answer(request: ClientRequest): Answer | Promise<Answer>;
  /** Answers what cannot be read as a request. */
  refuse(fault: RequestFault): Answer;
  /** Tells the operator of a failure of our own. */
  reportError(sentence: string, cause: unknown): void;
  readonly timeouts: Timeouts;
  /** No request is taken any more after those under way. */
  readonly isStopping: boolean;
  /** It is closed. */
  lost(connection: ClientConnection): void;
}

/** How long a client is waited for, in milliseconds. */
export interface Timeouts {
  /** Between two requests: longer than what stands before a gateway keeps its own end open, so that it is not closed as it is used. */
  idleMs: number;
  /** From a request's first byte to the end of its head. */
  headMs: number;
  /** Between two arrivals of a body that is read. */
  silenceMs: number;
  /** From a request's head to the end of its body, the time not counted in which nobody here took it. */
  bodyMs: number;
  /** What a body must bring on average once so long has passed; 0: anything. */
  bodyBytesPerSecond: number;
  bodyGraceMs: number;
  /** For a client to take more of its answer. */
  flushMs: number;
  /** For a client that still sends after its last answer: between two arrivals, and in all. */
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

/** What a client may still send after its answer: one that was refused for its size, or a proxy before it, reads the answer only after its body. */
const LINGER_BYTES = 1024 ** 3;
/** Of requests sent before their turn. */
const MOST_EARLY_BYTES = 64 * 1024;
/** A body up to this size is waited for where nobody reads it, so that the connection can carry another request. */
const MOST_SKIPPED_BYTES = 64 * 1024;
/** The first byte of who takes this for an encrypted port. */
const TLS_HANDSHAKE = 22;

export class ClientConnection implements MessageSink, BodySource, Outcome {
  /** On the clock of `performance.now()`: until when the client is waited for to send something. */
  private deadline = Number.POSITIVE_INFINITY;
  private readonly socket: Socket<ClientConnection>;
  private readonly keeper: Keeper;
  private readonly reader = new MessageReader(this);
  private readonly writer: AnswerWriter;
  /** The request under way; `isEntered`: it has been handed on to be answered. */
  private request: ClientRequest | undefined;
  private isEntered = false;
  private isInHead = false;
  /** What came after it. */
  private early: Buffer | undefined;
  /** The client has been told to send its body. */
  private isAsked = false;
  /** What is left of a body that nobody wanted is still to come. */
  private isSkipping = false;
  /** After this answer the connection carries no other. */
  private isLast = false;
  /** What still comes is not read: it is not known any more where in it a message begins. */
  private isDeaf = false;
  /** Bytes that may still come before the connection is closed on whoever sends them, and until when. */
  private lingering: number | undefined;
  private lingerEnd = 0;
  /** Of the body under way: how much has come, since when, and since when nobody takes it. */
  private bodyBytes = 0;
  private bodySince = 0;
  private pausedAt: number | undefined;
  private isOpen = true;

  constructor(socket: Socket<ClientConnection>, keeper: Keeper) {
    this.socket = socket;
    this.keeper = keeper;
    this.writer = new AnswerWriter(socket, this);
    this.reader.expect();
    this.wait('idleMs');
  }

  /** It waits for a request, or for what is left of one that is answered. */
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
      // While nobody takes the body its silence is ours.
      this.wait(request.body.isComplete || this.pausedAt !== undefined ? undefined : 'silenceMs');
      if (!this.isEntered) void this.enter(request);
    } else if (!this.isInHead && !this.isSkipping && this.reader.isWithin) {
      this.isInHead = true;
      this.wait('headMs');
      if (bytes[0] === TLS_HANDSHAKE) this.refuse(new MalformedMessage('TLS (https) is not spoken here'));
    }
  }

  head(text: string): Framing {
    // An empty line before a request is overlooked, as RFC 9112 section 2.2 wants it.
    const head = text.startsWith('\r\n') ? text.slice(2) : text;
    if (head === '') return 'interim';
    const request = new ClientRequest(head, this, this.socket);
    this.request = request;
    this.isInHead = false;
    if (request.framing !== 0) {
      this.bodyBytes = 0;
      this.bodySince = performance.now();
    }
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

  private async enter(request: ClientRequest): Promise<void> {
    this.isEntered = true;
    try {
      // Never at once: of a thousand requests sent in one go each would be answered inside the one before.
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
    // HTTP/1.0 knows no chunks: a body of unknown length ends with its connection.
    const endsByClosing = request.isOld && isUnmeasured(answer);
    this.isLast ||= !request.keepsConnection || this.keeper.isStopping || endsByClosing || !this.canSkip(request);
    try {
      this.writer.begin(request, answer, !this.isLast);
    } catch (thrown) {
      if (!(thrown instanceof UnsayableHeader)) throw thrown;
      cancelBody(answer);
      this.keeper.reportError('An answer could not be sent.', thrown);
      this.isLast = true;
      const unsent = new RequestFault(500, 'The answer to this request could not be sent.');
      this.writer.begin(request, this.keeper.refuse(unsent), false);
    }
  }

  /** What nobody read of a body stands before the next request. */
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

  /** The next request may come, or is there already. */
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

  /** Of our own code: the connection is worth no more than what is known of it. */
  failed(cause: unknown): void {
    this.keeper.reportError('A connection broke off.', cause);
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

  /** Says what is wrong with a request's head, or has whoever reads its body say what is wrong with that. */
  private refuse(fault: MalformedMessage): void {
    const status = fault instanceof LargeHead ? 431 : 400;
    this.giveUp(new RequestFault(status, `This is no proper HTTP request: ${fault.message}.`));
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
    this.deadline = limit ? performance.now() + this.keeper.timeouts[limit] : Number.POSITIVE_INFINITY;
    if (this.lingering !== undefined) this.deadline = Math.min(this.deadline, this.lingerEnd);
  }

  /** Looks whether patience has ended. */
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
    else this.giveUp(new RequestFault(408, 'The request did not arrive whole in time.'));
  }

  /** A body that comes too slowly, byte after byte, is an attack: nobody waits for it. */
  private lookAtBody({ waitsToSend }: ClientRequest, now: number): void {
    const isWaited = this.pausedAt === undefined && (this.isAsked || !waitsToSend);
    if (!isWaited || this.isDeaf || this.lingering !== undefined) return;
    const { bodyMs, bodyBytesPerSecond, bodyGraceMs } = this.keeper.timeouts;
    const ms = now - this.bodySince;
    const isSlow = this.bodyBytes * 1000 < (ms - bodyGraceMs) * bodyBytesPerSecond;
    if (ms < bodyMs && !isSlow) return;
    const sentence = isSlow
      ? `The request's body arrived too slowly: ${bodyBytesPerSecond} bytes a second are the least.`
      : 'The request did not arrive whole in time.';
    this.giveUp(new RequestFault(408, sentence));
  }

  /** After what is under way, or at once where nothing is. */
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
      request.body.broke(new RequestFault(400, 'The request broke off before its end.'));
      this.writer.cancel();
    } catch (thrown) {
      this.keeper.reportError('What a client had begun could not be ended.', thrown);
    }
  }

  /** A client that still sends would not come to read its answer if the connection were closed on it. */
  private close(): void {
    this.lingering = LINGER_BYTES;
    this.lingerEnd = performance.now() + this.keeper.timeouts.lingerWholeMs;
    this.wait('lingerMs');
    this.socket.resume();
    this.socket.shutdown();
  }

  /** Closes it; what the client has not fetched yet still reaches it. */
  private hangUp(): void {
    // Over TLS an end alone would wait for the client's own, for as long as that pleases.
    this.socket.shutdown();
    this.socket.end();
    this.closed();
  }

  /** Closes it at once, on whatever is under way. */
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
