/** Reads HTTP/1.1 replies out of a connection's bytes, however they are cut. What is not plain HTTP is refused: no guess about where a reply ends. */

/** A reply's first part. */
export interface ReplyHead {
  status: number;
  /** Name (lower-case) and value by turns, in the order they came. */
  headers: readonly string[];
}

/** Takes what is read, in order: one head, bodies, one end. */
export interface ReplySink {
  head(head: ReplyHead): void;
  body(bytes: Uint8Array): void;
  /** `reusable`: the connection may carry another request. */
  end(reusable: boolean, idleMs: number | undefined): void;
}

/** What came is no HTTP reply; the message is for the operator. */
export class MalformedReply extends Error {}

/** All heads of a reply together, interim ones included. */
const MAX_HEAD_BYTES = 64 * 1024;
/** A chunk's size line with its extensions, and all trailers. */
const MAX_LINE_BYTES = 8 * 1024;
/** More digits than any chunk needs, fewer than a number holds. */
const MAX_SIZE_DIGITS = 12;

const CR = 13;
const LF = 10;
const HEAD_END = Buffer.from('\r\n\r\n');
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** What no value holds; a bare line end among it. */
const FORBIDDEN = /[\0\r\n]/;
const KEEP_ALIVE_TIMEOUT = /(?:^|[,\s])timeout=(\d{1,6})/i;

type State =
  | 'head'
  | 'length' // a body of stated length
  | 'close' // a body that the connection's end ends
  | 'size' // a chunk's size line
  | 'chunk'
  | 'chunk-end' // the line end after a chunk
  | 'trailers'
  | 'idle'; // no reply is expected

export class ReplyReader {
  private state: State = 'idle';
  private sink: ReplySink;
  /** A HEAD request's reply has no body, whatever its head says. */
  private bodiless = false;
  /** Bytes of an unfinished head or line. */
  private carried: Buffer | undefined;
  private headBytes = 0;
  private lineBytes = 0;
  private left = 0;
  private keep = false;
  private idleMs: number | undefined;

  constructor(sink: ReplySink) {
    this.sink = sink;
  }

  /** A request has been sent: its reply is what comes next. */
  expect(method: string): void {
    this.state = 'head';
    this.bodiless = method === 'HEAD';
    this.headBytes = 0;
  }

  /** Throws MalformedReply; also where bytes come that no request asked for. */
  read(bytes: Buffer): void {
    let all = bytes;
    if (this.carried) {
      all = Buffer.concat([this.carried, bytes]);
      this.carried = undefined;
    }
    for (let at = 0; at < all.length; ) {
      const next = this.step(all, at);
      if (next === undefined) {
        this.carried = all.subarray(at);
        return;
      }
      at = next;
    }
  }

  /** The connection has ended: whether the reply ends with it as it should. */
  close(): boolean {
    if (this.state !== 'close') return this.state === 'idle';
    this.end(false);
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
        if (all[at] !== CR || all[at + 1] !== LF) throw new MalformedReply('a chunk is longer than its size says');
        this.state = 'size';
        return at + 2;
      case 'trailers':
        return this.readTrailer(all, at);
      case 'idle':
        throw new MalformedReply('bytes came that no request asked for');
      default:
        return this.state satisfies never;
    }
  }

  private readHead(all: Buffer, at: number): number | undefined {
    const end = all.indexOf(HEAD_END, at);
    if ((end < 0 ? all.length : end) - at + this.headBytes > MAX_HEAD_BYTES)
      throw new MalformedReply(`the head is larger than ${MAX_HEAD_BYTES} bytes`);
    if (end < 0) return undefined;
    this.headBytes += end - at;
    this.takeHead(all.toString('latin1', at, end));
    return end + HEAD_END.length;
  }

  private takeHead(text: string): void {
    const lines = text.split('\r\n');
    const status = STATUS_LINE.exec(lines[0] ?? '');
    if (!status) throw new MalformedReply('the status line is none');
    const code = Number(status[2]);
    if (code === 101) throw new MalformedReply('it changes to a protocol that nobody asked for');
    // Interim: the reply itself is still to come.
    if (code < 200) return;
    const headers: string[] = [];
    for (let index = 1; index < lines.length; index++) readHeader(lines[index] ?? '', headers);
    this.frame(code, headers, status[1] === '0');
  }

  /** How the body ends, as RFC 9112 section 6.3 decides. */
  private frame(status: number, headers: readonly string[], isOld: boolean): void {
    const encoding = headerOf(headers, 'transfer-encoding');
    const length = readLength(headers);
    const connection = headerOf(headers, 'connection')?.toLowerCase() ?? '';
    this.keep = !isOld && !connection.includes('close');
    this.idleMs = readIdleMs(headerOf(headers, 'keep-alive'));
    const head = { status, headers };
    if (this.bodiless || status === 204 || status === 304) {
      this.sink.head(head);
      this.end(this.keep);
    } else if (encoding !== undefined) {
      if (encoding.trim().toLowerCase() !== 'chunked') throw new MalformedReply('its transfer-encoding is not known');
      // Who says both may be followed by who reads the other: such a connection is not used again.
      if (length !== undefined) this.keep = false;
      this.state = 'size';
      this.sink.head(head);
    } else if (length === undefined) {
      this.state = 'close';
      this.sink.head(head);
    } else {
      this.left = length;
      this.state = 'length';
      this.sink.head(head);
      if (length === 0) this.end(this.keep);
    }
  }

  private readCounted(all: Buffer, at: number): number {
    const end = Math.min(all.length, at + this.left);
    this.left -= end - at;
    this.sink.body(at === 0 && end === all.length ? all : all.subarray(at, end));
    if (this.left > 0) return end;
    if (this.state === 'chunk') this.state = 'chunk-end';
    else this.end(this.keep);
    return end;
  }

  private readSize(all: Buffer, at: number): number | undefined {
    const end = lineEnd(all, at);
    if (end === undefined) return undefined;
    let size = 0;
    let digits = at;
    for (let digit = hexDigit(all[digits]); digit !== undefined; digit = hexDigit(all[++digits]))
      size = size * 16 + digit;
    // After the digits nothing but an extension, which means nothing here.
    const rest = all[digits];
    if (digits === at || digits - at > MAX_SIZE_DIGITS || (digits < end && rest !== 59 && rest !== 32 && rest !== 9))
      throw new MalformedReply('a chunk has no size');
    this.left = size;
    this.state = size === 0 ? 'trailers' : 'chunk';
    this.lineBytes = 0;
    return end + 2;
  }

  private readTrailer(all: Buffer, at: number): number | undefined {
    const end = lineEnd(all, at);
    if (end === undefined) return undefined;
    this.lineBytes += end - at;
    if (this.lineBytes > MAX_LINE_BYTES) throw new MalformedReply('its trailers are too long');
    if (end === at) this.end(this.keep);
    return end + 2;
  }

  private end(reusable: boolean): void {
    this.state = 'idle';
    this.sink.end(reusable, this.idleMs);
  }
}

/** The value of the header of this lower-case name, several joined as one list. */
export function headerOf(headers: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  for (let at = 0; at < headers.length; at += 2)
    if (headers[at] === name) value = value === undefined ? headers[at + 1] : `${value}, ${headers[at + 1]}`;
  return value;
}

function readHeader(line: string, headers: string[]): void {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(0, colon));
  if (!HEADER_NAME.test(name) || FORBIDDEN.test(line)) throw new MalformedReply('a header line is none');
  headers.push(name.toLowerCase(), line.slice(colon + 1).trim());
}

/** The stated length; repeated it must be the same. */
function readLength(headers: readonly string[]): number | undefined {
  const stated = headerOf(headers, 'content-length');
  if (stated === undefined) return undefined;
  const [first = '', ...others] = stated.split(',').map((one) => one.trim());
  if (!/^\d{1,15}$/.test(first) || others.some((one) => one !== first))
    throw new MalformedReply('its content-length is none');
  return Number(first);
}

function readIdleMs(keepAlive: string | undefined): number | undefined {
  const seconds = keepAlive && KEEP_ALIVE_TIMEOUT.exec(keepAlive)?.[1];
  return seconds ? Number(seconds) * 1000 : undefined;
}

/** Where the line that begins at `at` ends, at its CR; `undefined` where more bytes are needed. */
function lineEnd(all: Buffer, at: number): number | undefined {
  const end = all.indexOf(LF, at);
  if ((end < 0 ? all.length : end) - at > MAX_LINE_BYTES) throw new MalformedReply('a line is too long');
  if (end < 0) return undefined;
  if (end === at || all[end - 1] !== CR) throw new MalformedReply('a line ends without a carriage return');
  return end - 1;
}

function hexDigit(byte: number | undefined): number | undefined {
  if (byte === undefined) return undefined;
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : undefined;
}
