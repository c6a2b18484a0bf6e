/** A way to a database that a test can cut: bytes stop, connections stay open, as where a network fails. */
import { connect, createServer, type Socket } from 'node:net';

export interface DatabaseLink {
  /** The database's address, over this link. */
  url: string;
  /** From now on nothing passes, in either direction. */
  cut(): void;
  /** New connections pass; `resumed`: those of before too, with what was held back; `reset`: they are broken off. */
  mend(former: 'resumed' | 'reset'): void;
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
    mend(former) {
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
