/** Redis for tests on a free port, or none if `redis-server` is not installed (Debian: apt-get install redis-server). */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisClient } from 'bun';
import { freePort } from './free-port.ts';

export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
if (!hasRedis) console.log('redis-server is not installed: the tests of shared limits are skipped.');

export interface RedisServer {
  readonly url: string;
  /** Runs a command over a separate connection. */
  command(name: string, ...args: string[]): Promise<unknown>;
  /** Stops the process until `thaw`: its connections stay, and nothing is answered. */
  freeze(): void;
  thaw(): void;
  /** SIGKILL: its data is lost. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const READY_MS = 30_000;

export async function startRedis(): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let child = await spawned(port, folder, url);
  const command = (name: string, ...args: string[]) => once(url, name, args);

  async function kill(): Promise<void> {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
  return {
    url,
    command,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    kill,
    async restart() {
      child = await spawned(port, folder, url);
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function spawned(port: number, folder: string, url: string): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const child = spawn('redis-server', args, { stdio: 'ignore' });
  const deadline = performance.now() + READY_MS;
  while (performance.now() < deadline) {
    if ((await once(url, 'PING', []).catch(() => undefined)) === 'PONG') return child;
    await Bun.sleep(20);
  }
  child.kill('SIGKILL');
  throw new Error('redis-server did not become ready');
}

async function once(url: string, name: string, args: string[]): Promise<unknown> {
  const client = new RedisClient(url, { autoReconnect: false });
  try {
    await client.connect();
    return await client.send(name, args);
  } finally {
    client.close();
  }
}
