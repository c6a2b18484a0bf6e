/** A client's request: head, body, and whether the client is still connected. Bytes of the body wait here until they are read. */
import { HASH, SLASH, SPACE, TILDE } from './ascii.ts';
import { latin1, latin1Like } from './bytes.ts';
import { HeaderLines, lineEndOf, listHas, tokenEnd } from './header-lines.ts';
import { type BodyFraming, MalformedMessage, readLength } from './message-reader.ts';
import type { RequestFault } from './request-fault.ts';

/** The client that waits for the response. */
export interface Client {
  /** The client disconnected before its response was complete. */
  readonly hasLeft: boolean;
  /** Called once when the client disconnects. */
  onLeave: (() => void) | undefined;
}

interface Peer {
  /** `undefined` if the connection is closed. */
  readonly remoteAddress: string | undefined;
}

/** The request lines that are not usual. A fragment (`#…`) is not meant for servers and is dropped. */
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([!"$-~]+)(?:#[!-~]*)? HTTP\/1\.([01])$/;
/** Requests to a proxy begin with the server's own address. */
const ORIGIN = /^https?:\/\/[^/?]*/i;
/** A name or an address, and a port. May be empty. */
const HOST = /^(?:[\w.-]+|\[[\w:.%]+\])?(?::\d{0,5})?$/;

export class ClientRequest implements Client {
  readonly method: string;
  /** Path and query as sent; non-ASCII bytes are escaped. */
  readonly target: string;
  readonly headers: HeaderLines;
  readonly body: RequestBody;
  readonly framing: BodyFraming;
  /** The connection can be used for another request. */
  readonly keepsConnection: boolean;
  /** HTTP/1.0, which has no chunks. */
  readonly isOld: boolean;
  hasLeft = false;
  onLeave: (() => void) | undefined;
  private readonly socket: Peer;

  /** From the bytes of its head; the empty line follows them. Throws MalformedMessage. */
  constructor(bytes: Buffer, from: number, to: number, source: BodySource, socket: Peer) {
    const end = lineEndOf(bytes, from, to);
    const line = readUsualLine(bytes, from, end) ?? readLine(latin1(bytes, from, end));
    const headers = HeaderLines.read(bytes, end, to);
    if (!headers) throw new MalformedMessage('a header line is invalid');
    this.method = line.method;
    this.target = line.target;
    this.isOld = line.isOld;
    this.headers = headers;
    this.socket = socket;
    this.keepsConnection = keepsConnection(headers, this.isOld);
    this.framing = framingOf(headers, this.isOld);
    this.body = new RequestBody(typeof this.framing === 'number' ? this.framing : undefined, source);
  }

  /** The peer's address, empty if it has disconnected. Read on demand, because it costs a microsecond. */
  get address(): string {
    return this.socket.remoteAddress ?? '';
  }

  /** The client waits for `100 Continue`. */
  get waitsToSend(): boolean {
    return !this.isOld && this.headers.get('expect')?.toLowerCase() === '100-continue';
  }

  leave(): void {
    this.hasLeft = true;
    this.onLeave?.();
  }
}

interface RequestLine {
  method: string;
  target: string;
  isOld: boolean;
}

const VERSION = Buffer.from(' HTTP/1.1');

/** The target of the last request: many have the same. */
let usualTarget = '';

/** The request line in these bytes, if its target is a path of plain characters and its version HTTP/1.1. */
function readUsualLine(bytes: Buffer, from: number, to: number): RequestLine | undefined {
  const space = tokenEnd(bytes, from, to);
  const target = space + 1;
  if (space === from || bytes[space] !== SPACE || bytes[target] !== SLASH) return undefined;
  let end = target;
  while (end < to && bytes[end]! > SPACE && bytes[end]! <= TILDE && bytes[end] !== HASH) end++;
  if (to - end !== VERSION.length) return undefined;
  for (let i = 0; i < VERSION.length; i++) if (bytes[end + i] !== VERSION[i]) return undefined;
  usualTarget = latin1Like(usualTarget, bytes, target, end);
  return { method: latin1Like('POST', bytes, from, space), target: usualTarget, isOld: false };
}

function readLine(text: string): RequestLine {
  const line = REQUEST_LINE.exec(text) ?? REQUEST_LINE.exec(escaped(text));
  if (!line) throw new MalformedMessage('its request line is invalid');
  const [, method = '', target = '', minor] = line;
  return { method, target: target.startsWith('/') ? target : withoutOrigin(method, target), isOld: minor === '0' };
}

/** Some clients send a URL as it was typed. */
function escaped(line: string): string {
  const space = line.indexOf(' ');
  return (
    line.slice(0, space) +
    line.slice(space).replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
  );
}

/** A target that is neither a path nor a URL is refused, not guessed. */
function withoutOrigin(method: string, target: string): string {
  if (target === '*' && method === 'OPTIONS') return target;
  const origin = ORIGIN.exec(target);
  if (!origin) throw new MalformedMessage('its target is neither a path nor a URL');
  const rest = target.slice(origin[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** If two parsers could disagree about the end of a request, it is refused: a proxy may use one of them (RFC 9112, section 6.3). */
function framingOf(headers: HeaderLines, isOld: boolean): BodyFraming {
  checkHost(headers, isOld);
  const encoding = headers.get('transfer-encoding');
  const length = readLength(headers);
  if (encoding === null) return length ?? 0;
  if (length !== undefined) throw new MalformedMessage('it has both content-length and transfer-encoding');
  if (isOld || encoding.toLowerCase() !== 'chunked')
    throw new MalformedMessage('its transfer-encoding is not supported');
  return 'chunked';
}

/** The host of the last request: most requests of a server have the same. */
let usualHost = '';

function checkHost(headers: HeaderLines, isOld: boolean): void {
  if (usualHost !== '' && headers.is('host', usualHost)) return;
  const host = headers.get('host');
  if (host === null ? !isOld : !HOST.test(host)) throw new MalformedMessage('it must have exactly one host header');
  usualHost = host?.toLowerCase() ?? '';
}

/** HTTP/1.1 keeps a connection by default, HTTP/1.0 on request. */
function keepsConnection(headers: HeaderLines, isOld: boolean): boolean {
  if (headers.is('connection', 'keep-alive')) return true;
  const connection = headers.get('connection');
  if (connection === null) return !isOld;
  return !listHas(connection, 'close') && (!isOld || listHas(connection, 'keep-alive'));
}

/** What a body needs of its connection. */
export interface BodySource {
  /** Bytes are requested: a client that waits for `100 Continue` gets it. */
  wanted(): void;
  /** Stop reading: nothing consumes what has arrived. */
  pause(): void;
  resume(): void;
}

/** With this much waiting the connection is not read, so that a fast client has to wait. */
const MOST_WAITING_BYTES = 256 * 1024;
/** The same for the number of pieces, because each costs much more than a byte. */
const MOST_WAITING_PIECES = 4096;

/** Shared, because most requests bring one piece, and then an array of one: nothing is added to this one. */
const NONE: Uint8Array[] = [];

interface PendingRead {
  resolve(bytes: Uint8Array | undefined): void;
  reject(failure: RequestFault): void;
}

export class RequestBody {
  /** The number of bytes, if content-length states it. */
  readonly length: number | undefined;
  /** Everything has arrived. */
  isComplete = false;
  private failure: RequestFault | undefined;
  private arrived: Uint8Array[] = NONE;
  private arrivedBytes = 0;
  private isPaused = false;
  private waiting: PendingRead | undefined;
  private readonly source: BodySource;

  constructor(length: number | undefined, source: BodySource) {
    this.length = length;
    this.source = source;
  }

  /** Everything has been read. */
  get isRead(): boolean {
    return this.isComplete && this.arrived.length === 0;
  }

  /** The next bytes, or `undefined` at the end. Throws RequestFault if the body failed. */
  read(): Promise<Uint8Array | undefined> {
    if (this.arrived.length > 0) return Promise.resolve(this.take());
    if (this.isComplete) return Promise.resolve(undefined);
    if (this.failure) return Promise.reject(this.failure);
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.source.wanted();
    });
  }

  /** The rest of the body, if it has arrived already. */
  takeArrived(): Uint8Array | undefined {
    return this.isComplete && this.arrived.length > 0 ? this.take() : undefined;
  }

  push(bytes: Uint8Array): void {
    const { waiting } = this;
    if (waiting) {
      this.waiting = undefined;
      waiting.resolve(bytes);
      return;
    }
    if (this.arrived === NONE) this.arrived = [bytes];
    else this.arrived.push(bytes);
    this.arrivedBytes += bytes.length;
    const isMuch = this.arrivedBytes >= MOST_WAITING_BYTES || this.arrived.length >= MOST_WAITING_PIECES;
    if (!isMuch || this.isPaused) return;
    this.isPaused = true;
    this.source.pause();
  }

  finish(): void {
    this.isComplete = true;
    this.waiting?.resolve(undefined);
    this.waiting = undefined;
  }

  /** No more bytes will arrive: the client disconnected, or the body is invalid. */
  broke(failure: RequestFault): void {
    if (this.isComplete || this.failure) return;
    this.failure = failure;
    this.waiting?.reject(failure);
    this.waiting = undefined;
  }

  /** The rest will not be read. */
  discard(): void {
    if (this.arrived.length === 0) return;
    this.arrived = NONE;
    this.arrivedBytes = 0;
    if (!this.isPaused) return;
    this.isPaused = false;
    this.source.resume();
  }

  private take(): Uint8Array {
    const { arrived, arrivedBytes } = this;
    this.discard();
    return arrived.length === 1 ? arrived[0]! : Buffer.concat(arrived, arrivedBytes);
  }
}
