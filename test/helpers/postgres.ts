/** Postgres for tests: a new cluster in a temporary folder, on a local address, removed after the tests. */
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { freePort } from './free-port.ts';

export interface TestPostgres {
  /** The URL of a new database: empty, or a copy of the one that `prepare` filled, which is called once for each cluster. */
  freshDatabase(prepare?: (url: string) => Promise<void>): Promise<string>;
  /** Stops (`fast` ends sessions, `immediate` is a crash) and starts again. */
  stop(mode: 'fast' | 'immediate'): void;
  start(): void;
  /** Stops or continues all its processes: connections stay open without an answer. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
}

/** The programs of an installed Postgres; `undefined` if there is none, or no user that could run it. */
interface Installed {
  folder: string;
  /** Postgres does not run as root: the command that changes the user. */
  as: readonly string[];
  owner: { uid: number; gid: number } | undefined;
}

const FOLDERS = '/usr/lib/postgresql';
const USER = 'modelport';
const START_TIMEOUT_MS = 60_000;

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

/** Without Postgres its tests are skipped with a message. */
export const hasPostgres = installed !== undefined;
if (!hasPostgres) console.warn('Postgres is not installed: its tests are skipped.');

/**
 * The cluster that all test files of a run share; each test has its own databases. A test that stops Postgres uses `startPostgres` instead.
 */
export async function testPostgres(): Promise<Pick<TestPostgres, 'freshDatabase'>> {
  sharing ??= sharedCluster();
  return sharing;
}

let sharing: Promise<Pick<TestPostgres, 'freshDatabase'>> | undefined;

/** With `bun test --parallel` the files run in several processes of one parent: the first makes the cluster, the others wait for it. */
async function sharedCluster(): Promise<Pick<TestPostgres, 'freshDatabase'>> {
  const parallel = process.env.BUN_TEST_WORKER_ID !== undefined;
  if (!parallel) return startPostgres();
  const portFile = join(tmpdir(), `modelport-postgres-of-${process.ppid}`);
  try {
    // `wx`: only one process creates the file.
    writeFileSync(portFile, '', { flag: 'wx' });
  } catch {
    return databasesAt(await portIn(portFile));
  }
  const postgres = await startPostgres(process.ppid);
  writeFileSync(`${portFile}.new`, String(postgres.port));
  renameSync(`${portFile}.new`, portFile);
  whenGone(`rm -f ${portFile}`, process.ppid);
  return postgres;
}

async function portIn(portFile: string): Promise<number> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const port = existsSync(portFile) ? Number(readFileSync(portFile, 'utf8')) : 0;
    if (port > 0) return port;
    await Bun.sleep(50);
  }
  throw new Error('Postgres did not start in time');
}

/** A separate cluster, removed when the process of this id ends. */
export async function startPostgres(pid = process.pid): Promise<TestPostgres & { port: number }> {
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
  const options = `-h 127.0.0.1 -p ${port} -k ${home} -c max_connections=400 -c fsync=off`;
  const start = () => run('pg_ctl', '-D', data, '-o', options, '-l', join(home, 'log'), '-w', 'start');
  const stop = (mode: string) => run('pg_ctl', '-D', data, '-m', mode, '-w', 'stop');
  start();
  const stopCommand = [...as, join(folder, 'pg_ctl'), '-D', data, '-m', 'immediate', 'stop'].join(' ');
  whenGone(`${stopCommand}; rm -rf ${home}`, pid);
  const signal = (name: NodeJS.Signals) => {
    const main = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
    // The parent is stopped first and continued last: otherwise it would start other processes, or assume that stopped ones are dead.
    const all = [main, ...childrenOf(main)];
    for (const one of name === 'SIGSTOP' ? all : all.reverse()) process.kill(one, name);
  };
  return { port, start, stop, signal, ...databasesAt(port) };
}

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)]);
  return stdout
    .toString()
    .split('\n')
    .map(Number)
    .filter((child) => child > 0);
}

const TEMPLATE = 'prepared';

function databasesAt(port: number): Pick<TestPostgres, 'freshDatabase'> {
  let databases = 0;
  const urlOf = (name: string) => `postgres://${USER}@127.0.0.1:${port}/${name}`;
  return {
    async freshDatabase(prepare) {
      const name = `test_${process.pid}_${Date.now().toString(36)}_${++databases}`;
      const sql = new SQL({ url: urlOf('postgres'), max: 1 });
      // Postgres refuses two concurrent copies of a template, so a lock makes them wait.
      await sql.unsafe(`SELECT pg_advisory_lock(1)`);
      if (prepare && (await sql`SELECT FROM pg_database WHERE datname = ${TEMPLATE}`).length === 0) {
        await sql.unsafe(`CREATE DATABASE ${TEMPLATE}_new TEMPLATE template0`);
        await prepare(urlOf(`${TEMPLATE}_new`));
        await sql.unsafe(`ALTER DATABASE ${TEMPLATE}_new RENAME TO ${TEMPLATE}`);
      }
      await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${prepare ? TEMPLATE : 'template0'}`);
      await sql.close();
      return urlOf(name);
    },
  };
}

/** Runs a shell command when a process has ended in any way: the test runner has no hook for its exit. */
export function whenGone(command: string, pid = process.pid): void {
  const watch = `while kill -0 ${pid} 2>/dev/null; do sleep 1; done; ${command}`;
  spawn('sh', ['-c', watch], { detached: true, stdio: 'ignore' }).unref();
}
