/** A connection to a database that a test can interrupt: bytes stop while connections stay open, as in a network failure. */
import { connect, createServer, type Socket } from 'node:net';

export interface DatabaseLink {
  /** The database's URL over this link. */
  url: string;
  /** Stops all traffic in both directions. */
  cut(): void;
  /** New connections work again. `resumed`: earlier ones continue with the bytes held back; `reset`: earlier ones are closed. */
  normalize(former: 'resumed' | 'reset'): void;
  close(): Promise<void>;
}

export async function openDatabaseLink(databaseUrl: string): Promise<DatabaseLink> {
  const target = new URL(databaseUrl);
  const pairs = new Set<readonly [Socket, Socket]>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    const pair = [near, far] as const;
    pairs.add(pair);
    near.pipe(far);
    far.pipe(near);
    const end = () => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) {
      socket.on('error', end);
      socket.on('close', end);
    }
    if (isCut) hold(pair);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${address.port}`;

  return {
    url: url.href,
    cut() {
      isCut = true;
      for (const pair of pairs) hold(pair);
    },
    normalize(former) {
      isCut = false;
      for (const [near, far] of pairs) {
        if (former === 'reset') {
          near.resetAndDestroy();
          far.destroy();
          continue;
        }
        near.pipe(far);
        far.pipe(near);
      }
    },
    async close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function hold(pair: readonly [Socket, Socket]): void {
  for (const socket of pair) {
    socket.unpipe();
    socket.pause();
  }
}
