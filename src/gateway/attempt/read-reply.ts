/** Reads an upstream's answer: a refusal, a non-streaming reply, or a stream up to its first frame with content. */
import type { Load } from '../../access/work-bounds.ts';
import type { Call } from '../../canonical/call.ts';
import { asGatewayError, GatewayError } from '../../canonical/errors.ts';
import type { Frame, PlainReply, Reader } from '../../dialects/dialect.ts';
import { boundedReader } from '../../dialects/shared/bounded-reader.ts';
import { errorInCallerNames } from '../../dialects/shared/caller-names.ts';
import { readThrough } from '../../dialects/wire/framing.ts';
import type { ByteTaker, Exchange } from '../../transport/exchange.ts';
import { spokenReply } from '../prepare/speech-calls.ts';
import type { TargetCall } from '../prepare/steps.ts';
import { errorIn, type FrameTaker, type Upstream, WholeUpstream } from './upstream.ts';

/** A longer error body is cut: the rest holds no more information. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Of a stream before its first frame with content. Comments that keep a stream open are a few bytes each. */
const MAX_EMPTY_BYTES = 1024 * 1024;

const JSON_TYPE = 'application/json';

/** The error for a status of 300 or more, in the member names of the caller's format. */
export async function refusalOf({ route, context, isSame }: TargetCall, exchange: Exchange): Promise<unknown> {
  const refusal = route.dialect.readError(exchange.status, exchange.headers, await errorBody(exchange));
  return isSame ? refusal : errorInCallerNames(refusal, context.dialect.name);
}

/** As much of the body as arrives. If it is incomplete the status still counts. */
async function errorBody(exchange: Exchange): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (let chunk = await exchange.read(); chunk && size < MAX_ERROR_BYTES; chunk = await exchange.read()) {
      chunks.push(chunk);
      size += chunk.length;
    }
  } catch {
    // What came before the break is used.
  }
  exchange.cancel();
  return Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES);
}

/** The reader of the format, inside the provider's own framing if it has one. */
export function openReader({ route, context }: TargetCall, call: Call, contentType: string): Reader {
  const { provider, dialect, quirks } = route;
  const framing = provider.framings?.[dialect.name];
  const reader = framing?.holds(contentType)
    ? readThrough(framing.open(), dialect.reader(call, framing.inner, quirks))
    : dialect.reader(call, contentType, quirks);
  const bounded = boundedReader(reader, call, context);
  return call.kind === 'speech' && context.call.kind === 'chat' ? spokenReply(bounded, call) : bounded;
}

/** Whether the client can be sent the upstream's own bytes, instead of a reply written from their meaning. */
export function passesBytes({ route, isSame }: TargetCall, call: Call): boolean {
  return isSame && (route.quirks.supportsFreeTextTools || !hasFreeTextTools(call));
}

/** Such a provider got functions instead, and answers with function calls. */
function hasFreeTextTools(call: Call): boolean {
  if (call.kind === 'chat') for (const { type } of call.tools) if (type === 'custom') return true;
  return false;
}

/** A complete reply. Nothing of it was delivered, so after an error anywhere in it another target is tried. */
export function readWhole(reader: Reader, body: Uint8Array, same: boolean): Upstream {
  const frames = allOf(reader, body);
  for (const frame of frames) {
    const error = errorIn(frame);
    if (error) throw error;
  }
  return new WholeUpstream(frames, same);
}

function allOf(reader: Reader, body: Uint8Array): Frame[] {
  const frames = reader.read(body);
  for (const frame of reader.end()) frames.push(frame);
  return frames;
}

/** A complete reply with one text that may pass unchanged (`Dialect.plainReply`). Its frames are read only when they are used. */
export class PlainUpstream extends WholeUpstream {
  readonly body: Uint8Array;
  readonly plain: PlainReply;
  readonly #prepared: TargetCall;
  readonly #call: Call;

  constructor(body: Uint8Array, plain: PlainReply, prepared: TargetCall, call: Call) {
    super(undefined, true);
    this.body = body;
    this.plain = plain;
    this.#prepared = prepared;
    this.#call = call;
  }

  override take(): readonly Frame[] | undefined {
    if (this.isTaken) return undefined;
    this.isTaken = true;
    return allOf(openReader(this.#prepared, this.#call, JSON_TYPE), this.body);
  }
}

/** `undefined`: the full reader has to decide. */
export function readPlain(
  prepared: TargetCall,
  call: Call,
  contentType: string,
  body: Uint8Array,
): PlainUpstream | undefined {
  const { context, route } = prepared;
  // Reasoning is collected from the events.
  if (context.meter.thinks || !contentType.startsWith(JSON_TYPE) || !passesBytes(prepared, call)) return undefined;
  const plain = context.dialect.plainReply?.(body, route.quirks);
  return plain && new PlainUpstream(body, plain, prepared, call);
}

/**
 * Reads a stream to the end of its reply. Nothing of it was delivered, so after an error anywhere in it another target is tried.
 */
export async function readStream(
  exchange: Exchange,
  reader: Reader,
  same: boolean,
  maxBytes: number,
  { load, began }: { load: Load; began(): void },
): Promise<Upstream> {
  const all: Frame[] = [];
  let bytes = 0;
  for (let isOver = false; !isOver; ) {
    const chunk = await exchange.read();
    bytes += chunk?.length ?? 0;
    if (bytes > maxBytes) {
      exchange.cancel();
      throw new GatewayError('upstream_failed', `The model's reply is larger than ${maxBytes} bytes.`);
    }
    if (chunk) load.count(chunk.length);
    isOver = chunk === undefined;
    for (const frame of chunk ? reader.read(chunk) : reader.end()) {
      all.push(frame);
      if (frame.events.length > 0) {
        exchange.answered();
        began();
      }
      for (const event of frame.events) {
        if (event.type === 'reply-end') isOver = true;
        if (event.type !== 'error') continue;
        exchange.cancel();
        throw event.error;
      }
    }
  }
  // Its connection can be used again once it has been read to its end.
  exchange.pour(NOBODY);
  return new WholeUpstream(all, same);
}

const NO_FRAMES: Frame[] = [];

/** Bytes after the end of a reply are ignored. */
const NOBODY: ByteTaker = { bytes() {}, end() {}, failed() {} };

/** Reads a stream until its first frame with content: after an error before that another target is tried. */
export async function readStart(
  exchange: Exchange,
  reader: Reader,
  same: boolean,
  contentType: string,
  maxBytes: number,
): Promise<Upstream> {
  let first: Frame[] = [];
  let ended = false;
  let hasContent = false;
  let readBytes = 0;
  let emptyBytes = 0;
  while (!ended && !hasContent) {
    const chunk = await exchange.read();
    ended = chunk === undefined;
    const frames = chunk ? reader.read(chunk) : reader.end();
    for (const frame of frames) {
      if (frame.events.length > 0) hasContent = true;
      else emptyBytes += frame.bytes.length;
    }
    first = first.length > 0 ? first.concat(frames) : frames;
    readBytes += chunk?.length ?? 0;
    if (!hasContent && !ended && (readBytes > maxBytes || emptyBytes > MAX_EMPTY_BYTES)) {
      exchange.cancel();
      throw new GatewayError('upstream_failed', 'The upstream sent too much that meant nothing before its answer.');
    }
  }
  exchange.answered();
  throwFirstError(exchange, first);
  let pending: readonly Frame[] | undefined = first;
  const framesOf = (chunk: Uint8Array | undefined): readonly Frame[] => {
    if (chunk) return reader.read(chunk);
    ended = true;
    return reader.end();
  };
  return {
    same,
    contentType: reader.contentType ?? contentType,
    next() {
      if (!pending) return ended ? Promise.resolve(undefined) : exchange.read().then(framesOf);
      const frames = pending;
      pending = undefined;
      return Promise.resolve(frames);
    },
    pour(taker) {
      const frames = first;
      // They would be kept as long as the stream.
      first = NO_FRAMES;
      pending = NO_FRAMES;
      taker.frames(frames);
      if (!ended) exchange.pour(new FrameFeed(taker, reader));
      return exchange;
    },
  };
}

/** An error before any output is a failed attempt. After that it is a reply that breaks off. */
function throwFirstError(exchange: Exchange, frames: readonly Frame[]): void {
  for (const frame of frames) {
    for (const event of frame.events) {
      if (event.type === 'error') {
        exchange.cancel();
        throw event.error;
      }
      if (event.type === 'part-delta' || event.type === 'choice-end') return;
    }
  }
}

/** Hands the frames in the arriving bytes to `taker`. An error of the reader is reported as one of the reply. */
class FrameFeed implements ByteTaker {
  private readonly taker: FrameTaker;
  private readonly reader: Reader;

  constructor(taker: FrameTaker, reader: Reader) {
    this.taker = taker;
    this.reader = reader;
  }

  bytes(bytes: Uint8Array): void {
    try {
      this.taker.frames(this.reader.read(bytes));
    } catch (thrown) {
      this.taker.failed(asGatewayError(thrown));
    }
  }

  end(): void {
    try {
      this.taker.frames(this.reader.end());
    } catch (thrown) {
      this.taker.failed(asGatewayError(thrown));
    }
  }

  failed(failure: GatewayError): void {
    this.taker.failed(failure);
  }
}
