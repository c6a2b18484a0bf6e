/** A Postgres of the tests' own: a fresh cluster in a temporary folder, reached over loopback, gone when the tests are. */
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';

export interface TestPostgres {
  /** The address of a new, empty database. */
  freshDatabase(): Promise<string>;
  /** Stops as told (`fast` ends sessions, `immediate` is a crash) and starts again. */
  stop(mode: 'fast' | 'immediate'): void;
  start(): void;
}

/** The programs of an installed Postgres; `undefined` where there is none, or nobody it could run as. */
interface Installed {
  folder: string;
  /** Postgres refuses to run as root: the command that makes another user of it. */
  as: readonly string[];
  owner: { uid: number; gid: number } | undefined;
}

const FOLDERS = '/usr/lib/postgresql';
const USER = 'modelport';

function findPostgres(): Installed | undefined {
  const versions = existsSync(FOLDERS) ? readdirSync(FOLDERS).sort((a, b) => Number(b) - Number(a)) : [];
  const places = [...versions.map((version) => join(FOLDERS, version, 'bin')), ...(process.env.PATH ?? '').split(':')];
  const folder = places.find((place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'pg_ctl')));
  if (folder === undefined) return undefined;
  if (process.getuid?.() !== 0) return { folder, as: [], owner: undefined };
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, 'postgres']).stdout.toString()));
  if (!uid || !gid) return undefined;
  return { folder, as: ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'], owner: { uid, gid } };
}

const installed = findPostgres();
let running: TestPostgres | undefined;

/** Tests of Postgres are left out, and say so, where there is none. */
export const hasPostgres = installed !== undefined;
if (!hasPostgres) console.warn('Postgres is not installed: its tests are skipped.');

/** One cluster for all tests of this process. */
export async function testPostgres(): Promise<TestPostgres> {
  running ??= await startPostgres();
  return running;
}

async function startPostgres(): Promise<TestPostgres> {
  if (!installed) throw new Error('Postgres is not installed');
  const { folder, as, owner } = installed;
  const home = mkdtempSync(join(tmpdir(), 'modelport-postgres-'));
  if (owner) chownSync(home, owner.uid, owner.gid);
  const port = await freePort();
  const data = join(home, 'data');
  const run = (program: string, ...args: string[]) => {
    const [command = '', ...rest] = [...as, join(folder, program), ...args];
    const done = spawnSync(command, rest, { cwd: home, stdio: ['ignore', 'ignore', 'pipe'] });
    if (done.status !== 0) throw new Error(`${program} failed: ${done.stderr}`);
  };
  run('initdb', '-D', data, '-A', 'trust', '-U', USER, '-E', 'UTF8', '--locale=C', '--no-sync');
  const options = `-h 127.0.0.1 -p ${port} -k ${home} -c max_connections=200 -c fsync=off`;
  const start = () => run('pg_ctl', '-D', data, '-o', options, '-l', join(home, 'log'), '-w', 'start');
  const stop = (mode: string) => run('pg_ctl', '-D', data, '-m', mode, '-w', 'stop');
  start();
  const stopCommand = [...as, join(folder, 'pg_ctl'), '-D', data, '-m', 'immediate', 'stop'].join(' ');
  whenGone(`${stopCommand}; rm -rf ${home}`);
  let databases = 0;
  return {
    start,
    stop,
    async freshDatabase() {
      const name = `test_${++databases}`;
      const sql = new SQL({ url: `postgres://${USER}@127.0.0.1:${port}/postgres`, max: 1 });
      await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE template0`);
      await sql.close();
      return `postgres://${USER}@127.0.0.1:${port}/${name}`;
    },
  };
}

/** A shell command for when this process is no more, however it ends: the test runner does not tell that it exits. */
export function whenGone(command: string): void {
  const watch = `while kill -0 ${process.pid} 2>/dev/null; do sleep 1; done; ${command}`;
  spawn('sh', ['-c', watch], { detached: true, stdio: 'ignore' }).unref();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
