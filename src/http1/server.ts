/** Listens for clients and serves their requests over HTTP/1.1. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { TCPSocketListenOptions, TLSUpgradeOptions } from 'bun';
import { ClientConnection, type Keeper, PATIENCE, type Timeouts } from './client-connection.ts';
import { RequestTurns } from './request-turns.ts';

export interface ServerOptions extends Pick<Keeper, 'answer' | 'refuse' | 'reportError'> {
  hostname: string;
  /** 0: any free port. */
  port: number;
  /** Other processes listen on the same port. */
  shared: boolean;
  timeouts?: Timeouts;
  /** Serves TLS. */
  tls?: Certificate;
}

/** A certificate chain and its key, as PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

export interface Server {
  readonly port: number;
  /** New connections use this certificate; open ones continue. Throws if it is invalid, and then the old one stays. */
  renew(tls: Certificate): void;
  /** Accepts no more requests. Resolves when the current ones are answered. */
  stop(): Promise<void>;
  /** Closes all connections at once. */
  kill(): void;
}

/** How often time limits are checked. */
const LOOK_MS = 1000;

/** Throws if it cannot listen on the address. */
export function listen(options: ServerOptions): Server {
  const { hostname, port, shared, answer, refuse, reportError, timeouts = PATIENCE, tls } = options;
  // Not a `Set`: one whose members come and go keeps those that have left until the next full garbage collection.
  const connections: ClientConnection[] = [];
  let empty = () => {};
  const keeper: Keeper = {
    answer,
    refuse,
    reportError,
    timeouts,
    turns: new RequestTurns(),
    isStopping: false,
    lost(connection) {
      remove(connections, connection);
      if (connections.length === 0) empty();
    },
  };
  const handlers: TCPSocketListenOptions<ClientConnection>['socket'] = {
    open(socket) {
      socket.setNoDelay(true);
      socket.data = new ClientConnection(socket, keeper);
      socket.data.place = connections.length;
      connections.push(socket.data);
    },
    data: (socket, bytes) => socket.data.received(bytes),
    drain: (socket) => socket.data.drained(),
    close: (socket) => socket.data.closed(),
    // Called with what a handler throws.
    error: (socket, thrown) => socket.data.failed(thrown),
  };

  let certificate = tls && checked(tls);
  // TLS starts on each accepted connection with the current certificate, so the listener need not change when the certificate does.
  const secured: TCPSocketListenOptions<ClientConnection>['socket'] = {
    open(raw) {
      // Bun's types do not know that a server may upgrade a socket.
      const upgrade = { data: undefined, socket: handlers, tls: certificate, isServer: true };
      raw.upgradeTLS(upgrade as unknown as TLSUpgradeOptions<ClientConnection>);
    },
    // Encrypted data goes to the other socket.
    data() {},
    drain() {},
    close() {},
    error() {},
  };
  // Bun's types lack `reusePort` here; its sockets support it.
  const listening: TCPSocketListenOptions<ClientConnection> & { reusePort: boolean } = {
    hostname,
    port,
    reusePort: shared,
    socket: certificate ? secured : handlers,
  };
  const listener = Bun.listen<ClientConnection>(listening);
  const looking = setInterval(
    () => {
      const now = performance.now();
      for (const connection of [...connections]) connection.look(now);
    },
    Math.min(LOOK_MS, timeouts.idleMs, timeouts.headMs, timeouts.silenceMs, timeouts.flushMs, timeouts.lingerMs),
  );

  return {
    port: listener.port,
    renew(fresh) {
      certificate = checked(fresh);
    },
    stop() {
      keeper.isStopping = true;
      listener.stop();
      for (const connection of [...connections]) connection.stop();
      return new Promise((resolve) => {
        empty = () => {
          clearInterval(looking);
          resolve();
        };
        if (connections.length === 0) empty();
      });
    },
    kill() {
      keeper.isStopping = true;
      listener.stop(true);
      clearInterval(looking);
      for (const connection of [...connections]) connection.drop();
    },
  };
}

/** Fills the place with the last one. */
function remove(connections: ClientConnection[], one: ClientConnection): void {
  const last = connections[connections.length - 1];
  if (one.place < 0 || !last) return;
  connections[one.place] = last;
  last.place = one.place;
  connections.length--;
  one.place = -1;
}

/** Throws if the certificate is invalid or the key does not belong to it: otherwise every connection would fail. */
function checked(certificate: Certificate): Certificate {
  const { cert, key } = certificate;
  if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return certificate;
  throw new TypeError('The key is not that of the certificate.');
}
