/** Listens for clients and serves their requests over HTTP/1.1. */
import type { TCPSocketListenOptions } from 'bun';
import { ClientConnection, type Keeper, PATIENCE, type Patience } from './client-connection.ts';

export interface ServerOptions extends Pick<Keeper, 'answer' | 'refuse' | 'trouble'> {
  hostname: string;
  /** 0: any that is free. */
  port: number;
  /** Other processes listen on the same port. */
  shared: boolean;
  patience?: Patience;
}

export interface Server {
  readonly port: number;
  /** Takes no more requests; resolves when those under way are answered. */
  stop(): Promise<void>;
  /** Closes every connection at once. */
  kill(): void;
}

/** How often it is looked whose patience has ended. */
const LOOK_MS = 1000;

/** Throws where the address cannot be listened on. */
export function listen(options: ServerOptions): Server {
  const { hostname, port, shared, answer, refuse, trouble, patience = PATIENCE } = options;
  const connections = new Set<ClientConnection>();
  let isStopping = false;
  let empty = () => {};
  const keeper: Keeper = {
    answer,
    refuse,
    trouble,
    patience,
    get isStopping() {
      return isStopping;
    },
    lost(connection) {
      connections.delete(connection);
      if (connections.size === 0) empty();
    },
  };
  // Bun's types do not know `reusePort` here; its sockets do.
  const listening: TCPSocketListenOptions<ClientConnection> & { reusePort: boolean } = {
    hostname,
    port,
    reusePort: shared,
    socket: {
      open(socket) {
        socket.setNoDelay(true);
        socket.data = new ClientConnection(socket, keeper);
        connections.add(socket.data);
      },
      data: (socket, bytes) => socket.data.received(bytes),
      drain: (socket) => socket.data.drained(),
      close: (socket) => socket.data.closed(),
      // What a handler throws comes here.
      error: (socket, thrown) => socket.data.failed(thrown),
    },
  };
  const listener = Bun.listen<ClientConnection>(listening);
  const looking = setInterval(
    () => {
      const now = performance.now();
      for (const connection of connections) connection.look(now);
    },
    Math.min(LOOK_MS, patience.idleMs, patience.headMs, patience.silenceMs, patience.flushMs, patience.lingerMs),
  );

  return {
    port: listener.port,
    stop() {
      isStopping = true;
      listener.stop();
      for (const connection of connections) connection.stop();
      return new Promise((resolve) => {
        empty = () => {
          clearInterval(looking);
          resolve();
        };
        if (connections.size === 0) empty();
      });
    },
    kill() {
      isStopping = true;
      listener.stop(true);
      clearInterval(looking);
      for (const connection of connections) connection.drop();
    },
  };
}
