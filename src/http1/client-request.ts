/** A client's request as it arrived: its head, its body as it comes, and whether the client is still there. */
import { HeaderLines, listHas } from './header-lines.ts';
import { type Framing, MalformedMessage, readLength } from './message-reader.ts';
import { type BodySource, RequestBody } from './request-body.ts';

/** Who waits for an answer. */
export interface Client {
  /** It has left before its answer was complete. */
  readonly hasLeft: boolean;
  /** Runs once, when it leaves. */
  onLeave: (() => void) | undefined;
}

interface Peer {
  /** `undefined` where the connection is closed. */
  readonly remoteAddress: string | undefined;
}

/** What stands behind a `#` is not for servers. */
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([!"$-~]+)(?:#[!-~]*)? HTTP\/1\.([01])$/;
/** What a proxy is asked for begins with the server's own address. */
const ORIGIN = /^https?:\/\/[^/?]*/i;
/** A name or an address, and a port; nothing is allowed too. */
const HOST = /^(?:[\w.-]+|\[[\w:.%]+\])?(?::\d{0,5})?$/;

export class ClientRequest implements Client {
  readonly method: string;
  /** Path and query, as sent; bytes beyond ASCII are escaped. */
  readonly target: string;
  readonly headers: HeaderLines;
  readonly body: RequestBody;
  readonly framing: Framing;
  /** The connection may carry another request after this one. */
  readonly keepsConnection: boolean;
  /** It speaks HTTP/1.0: it knows no chunks. */
  readonly isOld: boolean;
  hasLeft = false;
  onLeave: (() => void) | undefined;
  private readonly socket: Peer;

  /** Throws MalformedMessage. */
  constructor(head: string, source: BodySource, socket: Peer) {
    const lineEnd = head.indexOf('\r\n');
    const first = lineEnd < 0 ? head : head.slice(0, lineEnd);
    const line = REQUEST_LINE.exec(first) ?? REQUEST_LINE.exec(escaped(first));
    if (!line) throw new MalformedMessage('its first line is none');
    const headers = HeaderLines.read(lineEnd < 0 ? '' : head.slice(lineEnd));
    if (!headers) throw new MalformedMessage('a header line is none');
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

  /** Of the connection's other end, empty where that has left. Asking the socket costs a microsecond, and few ask. */
  get address(): string {
    return this.socket.remoteAddress ?? '';
  }

  /** The client waits to be told that its body is wanted. */
  get waitsToSend(): boolean {
    return !this.isOld && this.headers.get('expect')?.toLowerCase() === '100-continue';
  }

  leave(): void {
    this.hasLeft = true;
    this.onLeave?.();
  }
}

/** Some clients send an address as it was typed. */
function escaped(line: string): string {
  const space = line.indexOf(' ');
  return (
    line.slice(0, space) +
    line.slice(space).replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
  );
}

/** What is neither a path nor a whole address would be made one by guessing. */
function withoutOrigin(method: string, target: string): string {
  if (target === '*' && method === 'OPTIONS') return target;
  const origin = ORIGIN.exec(target);
  if (!origin) throw new MalformedMessage('its target is neither a path nor an address');
  const rest = target.slice(origin[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Where two readers could differ about a request's end, it is refused: one may stand before the other (RFC 9112, section 6.3). */
function framingOf(headers: HeaderLines, isOld: boolean): Framing {
  const host = headers.get('host');
  if (host === null ? !isOld : !HOST.test(host)) throw new MalformedMessage('it needs one host header');
  const encoding = headers.get('transfer-encoding');
  const length = readLength(headers.get('content-length'));
  if (encoding === null) return length ?? 0;
  if (length !== undefined) throw new MalformedMessage('it has a content-length beside a transfer-encoding');
  if (isOld || encoding.toLowerCase() !== 'chunked') throw new MalformedMessage('its transfer-encoding is not known');
  return 'chunked';
}

/** HTTP/1.1 keeps a connection unless it says otherwise, HTTP/1.0 where it says so. */
function keepsConnection(headers: HeaderLines, isOld: boolean): boolean {
  const connection = headers.get('connection');
  if (connection === null) return !isOld;
  return !listHas(connection, 'close') && (!isOld || listHas(connection, 'keep-alive'));
}
