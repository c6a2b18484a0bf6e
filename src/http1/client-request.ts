/** A client's request: head, body, and whether the client is still connected. */
import { HeaderLines, listHas } from './header-lines.ts';
import { type Framing, MalformedMessage, readLength } from './message-reader.ts';
import { type BodySource, RequestBody } from './request-body.ts';

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

/** A fragment (`#…`) is not meant for servers and is dropped. */
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
  readonly framing: Framing;
  /** The connection can be used for another request. */
  readonly keepsConnection: boolean;
  /** HTTP/1.0, which has no chunks. */
  readonly isOld: boolean;
  hasLeft = false;
  onLeave: (() => void) | undefined;
  private readonly socket: Peer;

  /** Throws MalformedMessage. */
  constructor(head: string, source: BodySource, socket: Peer) {
    const lineEnd = head.indexOf('\r\n');
    const first = lineEnd < 0 ? head : head.slice(0, lineEnd);
    const line = REQUEST_LINE.exec(first) ?? REQUEST_LINE.exec(escaped(first));
    if (!line) throw new MalformedMessage('its request line is invalid');
    const headers = HeaderLines.read(lineEnd < 0 ? '' : head.slice(lineEnd));
    if (!headers) throw new MalformedMessage('a header line is invalid');
    const [, method = '', target = '', minor] = line;
    this.method = method;
    this.target = target.startsWith('/') ? target : withoutOrigin(method, target);
    this.headers = headers;
    this.socket = socket;
    this.isOld = minor === '0';
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
function framingOf(headers: HeaderLines, isOld: boolean): Framing {
  const host = headers.get('host');
  if (host === null ? !isOld : !HOST.test(host)) throw new MalformedMessage('it must have exactly one host header');
  const encoding = headers.get('transfer-encoding');
  const length = readLength(headers.get('content-length'));
  if (encoding === null) return length ?? 0;
  if (length !== undefined) throw new MalformedMessage('it has both content-length and transfer-encoding');
  if (isOld || encoding.toLowerCase() !== 'chunked')
    throw new MalformedMessage('its transfer-encoding is not supported');
  return 'chunked';
}

/** HTTP/1.1 keeps a connection by default, HTTP/1.0 on request. */
function keepsConnection(headers: HeaderLines, isOld: boolean): boolean {
  const connection = headers.get('connection');
  if (connection === null) return !isOld;
  return !listHas(connection, 'close') && (!isOld || listHas(connection, 'keep-alive'));
}
