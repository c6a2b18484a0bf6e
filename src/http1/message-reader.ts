/**
 * Splits a connection's bytes into HTTP/1.1 messages, in whatever pieces they arrive. Ambiguous bytes are refused: the end of a message is
 * never guessed.
 */

import { CR, DEL, LF, SEMICOLON, SPACE, TAB } from './ascii.ts';
import { latin1, sliceBytes } from './bytes.ts';
import { HeaderLines } from './header-lines.ts';

/** How a body ends: after this many bytes, with the last chunk, or with the connection. `interim`: another head follows. */
export type BodyFraming = number | 'chunked' | 'close' | 'interim';

/** Receives the parts of a message in order: one head, body pieces, one end. */
export interface MessageSink {
  /**
   * The head: these bytes; the empty line follows them. Returns how the body ends (RFC 9112 section 6.3). Throws MalformedMessage.
   */
  head(bytes: Buffer, from: number, to: number): BodyFraming;
  body(bytes: Uint8Array): void;
  end(): void;
}

/** The bytes are not valid HTTP; the message has the reason. */
export class MalformedMessage extends Error {}

/** The head is larger than the maximum. */
export class LargeHead extends MalformedMessage {}

/** The maximum of all heads of a message, including interim ones. */
const MAX_HEAD_BYTES = 64 * 1024;
/** A chunk's size line with its extensions, and all trailers. */
const MAX_LINE_BYTES = 8 * 1024;
/** All chunk extensions of a message: they have no meaning here, and could be much larger than the body. */
const MAX_EXTENSION_BYTES = 16 * 1024;
/** More digits than any chunk needs, and fewer than a number holds. */
const MAX_SIZE_DIGITS = 12;

const HEAD_END = Buffer.from('\r\n\r\n');

type State =
  | 'head'
  | 'length' // a body with content-length
  | 'close' // a body that ends with the connection
  | 'size' // a chunk's size line
  | 'chunk'
  | 'chunk-end' // the line end after a chunk
  | 'trailers'
  | 'idle'; // no message is expected

export class MessageReader {
  private state: State = 'idle';
  private readonly sink: MessageSink;
  /** The bytes of an incomplete head or line. */
  private carried: Buffer | undefined;
  private headBytes = 0;
  private lineBytes = 0;
  private extensionBytes = 0;
  private left = 0;

  constructor(sink: MessageSink) {
    this.sink = sink;
  }

  /** Starts a new message. */
  expect(): void {
    this.state = 'head';
    this.headBytes = 0;
    this.extensionBytes = 0;
  }

  /** A message has started and is not complete. */
  get isWithin(): boolean {
    return this.state !== 'idle' && (this.state !== 'head' || this.carried !== undefined || this.headBytes > 0);
  }

  /** Reads to the end of the message and returns the bytes after it. Throws MalformedMessage. */
  read(bytes: Buffer): Buffer | undefined {
    let all = bytes;
    if (this.state === 'size' && !this.carried && this.readOneChunk(bytes)) return undefined;
    if (this.carried) {
      all = Buffer.concat([this.carried, bytes]);
      this.carried = undefined;
    }
    for (let at = 0; at < all.length; ) {
      if (this.state === 'idle') return all.subarray(at);
      const next = this.step(all, at);
      if (next === undefined) {
        this.carried = all.subarray(at);
        return undefined;
      }
      at = next;
    }
    return undefined;
  }

  /** Most arrivals of a stream are one chunk and nothing else. Returns whether these bytes were; if not, none is read. */
  private readOneChunk(bytes: Buffer): boolean {
    let size = 0;
    let at = 0;
    for (let digit = hexDigit(bytes[0]); digit !== undefined && at < MAX_SIZE_DIGITS; digit = hexDigit(bytes[++at]))
      size = size * 16 + digit;
    const from = at + 2;
    const to = from + size;
    if (at === 0 || size === 0 || to + 2 !== bytes.length || bytes[at] !== CR || bytes[at + 1] !== LF) return false;
    if (bytes[to] !== CR || bytes[to + 1] !== LF) return false;
    this.sink.body(sliceBytes(bytes, from, to));
    return true;
  }

  /** The connection has ended: returns whether the message was complete. */
  close(): boolean {
    if (this.state !== 'close') return this.state === 'idle';
    this.end();
    return true;
  }

  /** Parses from `at` and returns the new position, or `undefined` if more bytes are needed. */
  private step(all: Buffer, at: number): number | undefined {
    switch (this.state) {
      case 'head':
        return this.readHead(all, at);
      case 'length':
      case 'chunk':
        return this.readCounted(all, at);
      case 'close':
        this.sink.body(all.subarray(at));
        return all.length;
      case 'size':
        return this.readSize(all, at);
      case 'chunk-end':
        if (all.length - at < 2) return undefined;
        if (all[at] !== CR || all[at + 1] !== LF) throw new MalformedMessage('a chunk is longer than its size says');
        this.state = 'size';
        return at + 2;
      case 'trailers':
        return this.readTrailer(all, at);
      case 'idle':
        return at;
      default:
        return this.state satisfies never;
    }
  }

  private readHead(all: Buffer, at: number): number | undefined {
    const end = all.indexOf(HEAD_END, at);
    if ((end < 0 ? all.length : end) - at + this.headBytes > MAX_HEAD_BYTES)
      throw new LargeHead(`the head is larger than ${MAX_HEAD_BYTES} bytes`);
    if (end < 0) return undefined;
    this.headBytes += end - at;
    const framing = this.sink.head(all, at, end);
    if (framing === 'close') this.state = 'close';
    else if (framing === 'chunked') this.state = 'size';
    else if (framing === 0) this.end();
    else if (framing !== 'interim') {
      this.left = framing;
      this.state = 'length';
    }
    return end + HEAD_END.length;
  }

  private readCounted(all: Buffer, at: number): number {
    const end = Math.min(all.length, at + this.left);
    this.left -= end - at;
    this.sink.body(sliceBytes(all, at, end));
    if (this.left > 0) return end;
    if (this.state === 'chunk') this.state = 'chunk-end';
    else this.end();
    return end;
  }

  private readSize(all: Buffer, at: number): number | undefined {
    let size = 0;
    let digits = at;
    for (let digit = hexDigit(all[digits]); digit !== undefined; digit = hexDigit(all[++digits]))
      size = size * 16 + digit;
    // Most size lines have only digits.
    const isBare = all[digits] === CR && all[digits + 1] === LF;
    const end = isBare ? digits : lineEnd(all, at);
    if (end === undefined) return undefined;
    // After the digits only an extension is allowed; it has no meaning here.
    if (digits === at || digits - at > MAX_SIZE_DIGITS || (digits < end && !isExtension(all, digits, end)))
      throw new MalformedMessage('a chunk has no size');
    this.extensionBytes += end - digits;
    if (this.extensionBytes > MAX_EXTENSION_BYTES) throw new MalformedMessage('its chunk extensions are too long');
    this.left = size;
    this.state = size === 0 ? 'trailers' : 'chunk';
    this.lineBytes = 0;
    return end + 2;
  }

  private readTrailer(all: Buffer, at: number): number | undefined {
    const end = lineEnd(all, at);
    if (end === undefined) return undefined;
    this.lineBytes += end - at;
    if (this.lineBytes > MAX_LINE_BYTES) throw new MalformedMessage('its trailers are too long');
    if (end === at) this.end();
    // Trailers are checked and then ignored: other parsers may treat them as headers.
    else checkTrailer(latin1(all, at, end));
    return end + 2;
  }

  private end(): void {
    this.state = 'idle';
    this.sink.end();
  }
}

/** The content-length; repeated values must be equal. `undefined` if there is none. Throws MalformedMessage. */
export function readLength(headers: HeaderLines): number | undefined {
  const length = headers.number('content-length');
  if (length !== undefined) return length;
  const stated = headers.get('content-length');
  if (stated === null) return undefined;
  const repeated = LENGTHS.exec(stated)?.[1];
  if (repeated === undefined) throw new MalformedMessage('its content-length is invalid');
  return Number(repeated);
}

const LENGTHS = /^(\d{1,15})(?:[\t ]*,[\t ]*\1)*$/;

/** The position of the CR that ends the line at `at`, or `undefined` if more bytes are needed. */
function lineEnd(all: Buffer, at: number): number | undefined {
  const end = all.indexOf(LF, at);
  if ((end < 0 ? all.length : end) - at > MAX_LINE_BYTES) throw new MalformedMessage('a line is too long');
  if (end < 0) return undefined;
  // Some parsers treat a single CR as a line end.
  if (end === at || all.indexOf(CR, at) !== end - 1) throw new MalformedMessage('a line does not end in CR LF');
  return end - 1;
}

/** After a chunk size: white space (some servers pad sizes), then nothing or an extension. */
function isExtension(all: Buffer, at: number, end: number): boolean {
  let place = at;
  while (all[place] === SPACE || all[place] === TAB) place++;
  if (place < end && all[place] !== SEMICOLON) return false;
  for (; place < end; place++) if (all[place]! < SPACE || all[place] === DEL) return false;
  return true;
}

/** In a trailer, headers that define the end or the host of a message come too late. */
const LATE = ['content-length', 'transfer-encoding', 'host'];

function checkTrailer(text: string): void {
  const line = HeaderLines.read(Buffer.from(`\r\n${text}\r\n`, 'latin1'), 0, text.length + 2);
  if (!line || LATE.some((name) => line.has(name))) throw new MalformedMessage('a trailer is invalid');
}

function hexDigit(byte: number | undefined): number | undefined {
  if (byte === undefined) return undefined;
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : undefined;
}
