/** A listener that never answers connections: its backlog is full and its process sleeps. */
import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';

export interface DeafListener {
  /** Connecting to it neither succeeds nor fails, if `deaf`. */
  readonly url: string;
  /** Whether the system behaves so; some accept every connection. */
  readonly deaf: boolean;
  close(): void;
}

/** Node respects the backlog length, and a sleeping process accepts nothing. */
const LISTEN_AND_SLEEP = `
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, server.address().port + '\\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

const QUEUE = 8;

export async function startDeafListener(): Promise<DeafListener> {
  const child = spawn('node', ['-e', LISTEN_AND_SLEEP], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<number>((resolve) => {
    child.stdout.once('data', (line: Buffer) => resolve(Number(line.toString())));
  });
  const sockets: Socket[] = [];
  for (let n = 0; n < QUEUE; n++) sockets.push(connectQuietly(port));
  await Bun.sleep(100);
  const probe = connectQuietly(port);
  sockets.push(probe);
  const connected = new Promise<boolean>((resolve) => probe.once('connect', () => resolve(true)));
  const deaf = !(await Promise.race([connected, Bun.sleep(300).then(() => false)]));
  return {
    url: `http://127.0.0.1:${port}`,
    deaf,
    close() {
      for (const socket of sockets) socket.destroy();
      child.kill('SIGKILL');
    },
  };
}

function connectQuietly(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  return socket;
}
