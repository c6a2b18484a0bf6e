/** A connection to a server: one exchange at a time. The only file that connects. */
import type { Socket, SocketHandler } from 'bun';
import { messageHead } from './bytes.ts';
import type { HeaderLines } from './header-lines.ts';
import { ReplyReader, type ReplySink } from './reply-reader.ts';
import type { BodyTaker, ReplyTaker, Source } from './reply-taker.ts';
import { type Address, type RequestHead, type StreamedBody, writeHead } from './request-head.ts';
import { receiverFor } from './unpacking.ts';

export interface Request extends RequestHead {
  /** The request must not arrive twice. */
  once?: boolean | undefined;
}

/** Servers close idle connections after a minute or earlier, so the gateway closes them first. */
const IDLE_MS = 30_000;
/** Less than the idle time that a server announces, so that it does not close a connection that is about to be used. */
const IDLE_MARGIN_MS = 1000;
/** If a server closes a kept connection this soon after a request, it closed it for being idle and has not read the request. */
const CROSSED_MS = 500;
const NOTHING = new Uint8Array();

/** What a connection needs of its pool. */
export interface ConnectionPool {
  idle(connection: ServerConnection): void;
  lost(connection: ServerConnection): void;
  /** A kept connection was closed while the request was sent, so it is sent over another one. */
  again(request: Request, exchange: ReplyTaker): void;
}

/** Resolved or rejected when it is known whether the connection can be used. */
interface Opening {
  resolve(): void;
  reject(cause: unknown): void;
}

const nobodyWaits = () => {};

export class ServerConnection implements Source, ReplySink {
  idleUntil = 0;
  private socket: Socket<ServerConnection> | undefined;
  /** The current exchange, the receiver of its body, and the request. */
  private current: ReplyTaker | undefined;
  private receiver: BodyTaker | undefined;
  private request: Request | undefined;
  private sentAt = 0;
  /** It has carried an exchange before. */
  private isKept = false;
  /** What the socket has not accepted yet. */
  private unsent: Uint8Array | undefined;
  /** A streamed body is not completely sent yet. */
  private isPouring = false;
  /** Called when the socket has accepted everything, or is closed. */
  private taken: () => void = nobodyWaits;
  private readonly reader = new ReplyReader(this);
  /** Of the current bytes: body pieces, and whether the reply ends with them. */
  private piece: Uint8Array | undefined;
  private more: Uint8Array[] | undefined;
  private hasEnded = false;
  private isReusable = false;
  private idleMs = 0;
  private isPaused = false;
  private isOpen = false;
  readonly address: Address;
  private readonly pool: ConnectionPool;
  private opening: Opening | undefined;

  constructor(address: Address, pool: ConnectionPool) {
    this.address = address;
    this.pool = pool;
  }

  /** Rejects if the upstream refuses, or has no certificate for its name. */
  connect(): Promise<void> {
    const { hostname, port, serverName } = this.address;
    return new Promise((resolve, reject) => {
      this.opening = { resolve, reject };
      const place = { hostname, port, data: this };
      Bun.connect<ServerConnection>(
        serverName === undefined ? { ...place, socket: PLAIN } : { ...place, tls: { serverName }, socket: SECURED },
      ).catch(reject);
    });
  }

  connected(socket: Socket<ServerConnection>): void {
    this.socket = socket;
  }

  opened(socket: Socket<ServerConnection>): void {
    socket.setNoDelay(true);
    // A connection does not keep the process alive, idle or not: the timer that checks the limits of an exchange does.
    socket.unref();
    this.isOpen = true;
    this.opening?.resolve();
    this.opening = undefined;
  }

  refused(cause: unknown): void {
    this.opening?.reject(cause);
    this.opening = undefined;
  }

  /** Throws if the head cannot be written; then nothing has changed. */
  exchange(request: Request, exchange: ReplyTaker, now: number): void {
    writeHead(request);
    this.current = exchange;
    this.request = request;
    this.sentAt = now;
    this.reader.expect(request.method);
    exchange.from(this);
    // If it was cancelled meanwhile, this connection is closed.
    if (!this.isOpen) return;
    if (request.stream) void this.pour(messageHead.text(), request.stream, exchange);
    else if (this.socket) this.unsent = messageHead.send(this.socket, request.body ?? NOTHING);
  }

  /** The next piece is requested when the socket has accepted the previous one. */
  private async pour(head: string, stream: StreamedBody, exchange: ReplyTaker): Promise<void> {
    const isOver = () => this.current !== exchange || !this.isOpen;
    this.isPouring = true;
    try {
      await this.sendWhole(Buffer.from(head, 'latin1'));
      for await (const piece of stream.open()) {
        if (isOver()) return;
        await this.sendWhole(piece);
        exchange.awaitAnswer();
      }
      if (!isOver()) this.isPouring = false;
    } catch (thrown) {
      if (!isOver()) this.broke(thrown);
    }
  }

  private sendWhole(bytes: Uint8Array): Promise<void> {
    this.unsent = bytes;
    this.sendRest();
    if (!this.unsent || !this.isOpen) return Promise.resolve();
    return new Promise((resolve) => {
      this.taken = resolve;
    });
  }

  sendRest(): void {
    if (!this.unsent || !this.socket) return;
    const written = Math.max(0, this.socket.write(this.unsent));
    this.unsent = written < this.unsent.length ? this.unsent.subarray(written) : undefined;
    if (!this.unsent) this.taken();
  }

  received(bytes: Buffer): void {
    try {
      this.reader.read(bytes);
    } catch (thrown) {
      // Bytes after the end: the reply is valid, but the connection is not reused.
      if (!this.hasEnded) {
        this.broke(thrown);
        return;
      }
      this.isReusable = false;
    }
    this.deliver();
  }

  /** Passes on the body bytes of one arrival as one piece. */
  private deliver(): void {
    const { current, receiver, piece, more } = this;
    if (piece) {
      this.piece = undefined;
      this.more = undefined;
      receiver?.push(more ? Buffer.concat([piece, ...more]) : piece);
      // The receiver may have cancelled the rest.
      if (this.current !== current) return;
    }
    // A reply whose head was refused has closed the connection.
    if (!this.hasEnded || !current) return;
    this.hasEnded = false;
    this.current = undefined;
    this.receiver = undefined;
    this.request = undefined;
    receiver?.finish();
    if (!this.isReusable || this.unsent || this.isPouring) {
      this.drop();
      return;
    }
    if (this.isPaused) this.resume();
    this.isKept = true;
    this.idleUntil = performance.now() + this.idleMs;
    this.pool.idle(this);
  }

  head(status: number, headers: HeaderLines): void {
    const { current } = this;
    if (!current) return;
    // Only a request without an answer is sent again.
    this.request = undefined;
    current.begin(status, headers);
    this.receiver = headers.has('content-encoding') ? receiverFor(current, headers, this) : current;
  }

  body(bytes: Uint8Array): void {
    if (!this.piece) this.piece = bytes;
    else if (this.more) this.more.push(bytes);
    else this.more = [bytes];
  }

  end(reusable: boolean, announcedIdleMs = IDLE_MS + IDLE_MARGIN_MS): void {
    this.hasEnded = true;
    this.isReusable = reusable;
    this.idleMs = Math.min(IDLE_MS, announcedIdleMs - IDLE_MARGIN_MS);
  }

  closed(error: unknown): void {
    this.refused(error);
    if (!this.isOpen) return;
    this.isOpen = false;
    this.taken();
    const { current, request } = this;
    if (!current) this.pool.lost(this);
    else if (this.reader.close()) this.deliver();
    else if (request && this.isCrossed(current)) {
      this.current = undefined;
      this.pool.again(request, current);
    } else this.broke(error ?? new Error('the connection was closed'));
  }

  private isCrossed({ status }: ReplyTaker): boolean {
    return this.isKept && status === 0 && performance.now() - this.sentAt < CROSSED_MS;
  }

  private broke(cause: unknown): void {
    const { current, receiver } = this;
    this.deliver();
    this.drop();
    (receiver ?? current)?.broke(cause);
  }

  /** Closes the connection without a report to its exchange. */
  drop(): void {
    this.current = undefined;
    this.receiver = undefined;
    this.isOpen = false;
    this.taken();
    this.pool.lost(this);
    this.socket?.terminate();
  }

  stop(): void {
    this.drop();
  }

  pause(): void {
    this.isPaused = true;
    this.socket?.pause();
  }

  resume(): void {
    this.isPaused = false;
    this.socket?.resume();
  }
}

/** For all connections: functions of its own would keep what was in use when they were made, such as the first request. */
const PLAIN: SocketHandler<ServerConnection> = {
  open(socket) {
    socket.data.connected(socket);
    socket.data.opened(socket);
  },
  data: (socket, bytes) => socket.data.received(bytes),
  drain: (socket) => socket.data.sendRest(),
  close: (socket, error) => socket.data.closed(error),
  error: (socket, error) => socket.data.closed(error),
  connectError: (socket, error) => socket.data.refused(error),
};

const SECURED: SocketHandler<ServerConnection> = {
  ...PLAIN,
  open: (socket) => socket.data.connected(socket),
  handshake(socket, isVerified, error) {
    if (isVerified) return socket.data.opened(socket);
    socket.data.refused(error);
    socket.terminate();
  },
};
