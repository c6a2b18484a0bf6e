/** Cuts a connection's bytes into HTTP/1.1 messages, however they arrive. What is not plain HTTP is refused: no guess about where a message ends. */

import { sliceBytes } from './bytes.ts';
import { HeaderLines } from './header-lines.ts';

/** Where a message's body ends: after so many bytes, where its chunks say, or with the connection; `interim`: another head follows. */
export type Framing = number | 'chunked' | 'close' | 'interim';

/** Takes a message in order: one head, bodies, one end. */
export interface MessageSink {
  /** The head's lines, without the empty one; says how the body ends, as RFC 9112 section 6.3 decides. Throws MalformedMessage. */
  head(text: string): Framing;
  body(bytes: Uint8Array): void;
  end(): void;
}

/** What came is no HTTP; the message says what was wrong with it. */
export class MalformedMessage extends Error {}

/** Before the end of its head a message is larger than any head may be. */
export class LargeHead extends MalformedMessage {}

/** All heads of a message together, interim ones included. */
export const MAX_HEAD_BYTES = 64 * 1024;
/** A chunk's size line with its extensions, and all trailers. */
const MAX_LINE_BYTES = 8 * 1024;
/** Extensions of all chunks of a message together: they mean nothing here, and could be far more than the body. */
const MAX_EXTENSION_BYTES = 16 * 1024;
/** More digits than any chunk needs, fewer than a number holds. */
const MAX_SIZE_DIGITS = 12;

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const SEMICOLON = 59;
const DEL = 127;
const HEAD_END = Buffer.from('\r\n\r\n');

type State =
  | 'head'
  | 'length' // a body of stated length
  | 'close' // a body that the connection's end ends
  | 'size' // a chunk's size line
  | 'chunk'
  | 'chunk-end' // the line end after a chunk
  | 'trailers'
  | 'idle'; // no message is expected

export class MessageReader {
  private state: State = 'idle';
  private readonly sink: MessageSink;
  /** Bytes of an unfinished head or line. */
  private carried: Buffer | undefined;
  private headBytes = 0;
  private lineBytes = 0;
  private extensionBytes = 0;
  private left = 0;

  constructor(sink: MessageSink) {
    this.sink = sink;
  }

  /** A message is what comes next. */
  expect(): void {
    this.state = 'head';
    this.headBytes = 0;
    this.extensionBytes = 0;
  }

  /** Part of a message has come and not all of it. */
  get isWithin(): boolean {
    return this.state !== 'idle' && (this.state !== 'head' || this.carried !== undefined || this.headBytes > 0);
  }

  /** Reads to the end of the message and returns what came after it. Throws MalformedMessage. */
  read(bytes: Buffer): Buffer | undefined {
    let all = bytes;
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

  /** The connection has ended: whether the message ends with it as it should. */
  close(): boolean {
    if (this.state !== 'close') return this.state === 'idle';
    this.end();
    return true;
  }

  /** Reads on from `at` and says where it stopped; `undefined` where more bytes are needed. */
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
    const framing = this.sink.head(all.toString('latin1', at, end));
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
    // Mostly the line is its digits alone.
    const isBare = all[digits] === CR && all[digits + 1] === LF;
    const end = isBare ? digits : lineEnd(all, at);
    if (end === undefined) return undefined;
    // After the digits nothing but an extension, which means nothing here.
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
    // They are checked and then ignored: what another reader takes for a header is none here.
    else checkTrailer(all.toString('latin1', at, end));
    return end + 2;
  }

  private end(): void {
    this.state = 'idle';
    this.sink.end();
  }
}

/** The length a header states; repeated it must be the same. `undefined` where none is stated; throws MalformedMessage. */
export function readLength(stated: string | null): number | undefined {
  if (stated === null) return undefined;
  const length = LENGTH.exec(stated)?.[1];
  if (length === undefined) throw new MalformedMessage('its content-length is none');
  return Number(length);
}

const LENGTH = /^(\d{1,15})(?:[\t ]*,[\t ]*\1)*$/;

/** Where the line that begins at `at` ends, at its CR; `undefined` where more bytes are needed. */
function lineEnd(all: Buffer, at: number): number | undefined {
  const end = all.indexOf(LF, at);
  if ((end < 0 ? all.length : end) - at > MAX_LINE_BYTES) throw new MalformedMessage('a line is too long');
  if (end < 0) return undefined;
  // A carriage return within the line is an end to some.
  if (end === at || all.indexOf(CR, at) !== end - 1) throw new MalformedMessage('a line ends otherwise than in CR LF');
  return end - 1;
}

/** Of a chunk: blanks, with which some servers pad a size, then nothing or a semicolon and characters. */
function isExtension(all: Buffer, at: number, end: number): boolean {
  let place = at;
  while (all[place] === SPACE || all[place] === TAB) place++;
  if (place < end && all[place] !== SEMICOLON) return false;
  for (; place < end; place++) if (all[place]! < SPACE || all[place] === DEL) return false;
  return true;
}

/** Headers that say where a message ends, or for whom it is, have come too late. */
const LATE = /^(?:content-length|transfer-encoding|host):/i;

function checkTrailer(line: string): void {
  if (!HeaderLines.read(`\r\n${line}`) || LATE.test(line)) throw new MalformedMessage('a trailer is none');
}

function hexDigit(byte: number | undefined): number | undefined {
  if (byte === undefined) return undefined;
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : undefined;
}
