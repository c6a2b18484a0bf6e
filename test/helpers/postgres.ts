/** Postgres for tests: a new cluster in a temporary folder, on a local address, removed after the tests. */
import { spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { SQL } from 'bun';
import { freePort } from './free-port.ts';

export interface TestPostgres {
  /** The URL of a new database: empty, or a copy of the one that `prepare` filled, which is called once for each cluster. */
  freshDatabase(prepare?: (url: string) => Promise<void>): Promise<string>;
  /** Removes those of the given databases without connections. */
  dropDatabases(urls: readonly string[]): Promise<void>;
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
export async function testPostgres(): Promise<Databases> {
  sharing ??= sharedCluster();
  return sharing;
}

type Databases = Pick<TestPostgres, 'freshDatabase' | 'dropDatabases'>;

let sharing: Promise<Databases> | undefined;

/** The processes of one run (`scripts/test.ts` gives them its id) share a cluster: the first makes it, the others wait for it. */
async function sharedCluster(): Promise<Databases> {
  const run = Number(process.env.MODELPORT_TEST_RUN ?? 0);
  if (run === 0) return startPostgres(process.pid, SHARED);
  const portFile = join(tmpdir(), `modelport-postgres-of-${run}`);
  try {
    // `wx`: only one process creates the file.
    writeFileSync(portFile, '', { flag: 'wx' });
  } catch {
    return databasesAt(await portIn(portFile));
  }
  const postgres = await startPostgres(run, SHARED);
  writeFileSync(`${portFile}.new`, String(postgres.port));
  renameSync(`${portFile}.new`, portFile);
  whenGone(`rm -f ${portFile}`, run);
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

/** With a database for each test, a vacuum of each once a minute would be most of the cluster's work. */
const SHARED = '-c autovacuum=off';

/** A separate cluster, removed when the process of this id ends. */
export async function startPostgres(pid = process.pid, more = ''): Promise<TestPostgres & { port: number }> {
  if (!installed) throw new Error('Postgres is not installed');
  const { folder, as, owner } = installed;
  const home = mkdtempSync(join(clusterFolder(), 'modelport-postgres-'));
  if (owner) chownSync(home, owner.uid, owner.gid);
  const port = await freePort();
  const data = join(home, 'data');
  const run = (program: string, ...args: string[]) => {
    const [command = '', ...rest] = [...as, join(folder, program), ...args];
    const done = spawnSync(command, rest, { cwd: home, stdio: ['ignore', 'ignore', 'pipe'] });
    if (done.status !== 0) throw new Error(`${program} failed: ${done.stderr}`);
  };
  run('initdb', '-D', data, '-A', 'trust', '-U', USER, '-E', 'UTF8', '--locale=C', '--no-sync');
  const options = `-h 127.0.0.1 -p ${port} -k ${home} -c max_connections=400 -c fsync=off ${more}`;
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

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 4 * 1024 ** 3;

/** In memory where there is plenty: a database is 300 files, which take a disk up to ten times the processor time (30 and 290 ms). */
function clusterFolder(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  const available = /MemAvailable: +(\d+) kB/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
  const isEnough = bavail * bsize >= ENOUGH_BYTES && Number(available ?? 0) * 1024 >= 2 * ENOUGH_BYTES;
  return isEnough ? MEMORY : tmpdir();
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

function databasesAt(port: number): Databases {
  let databases = 0;
  const urlOf = (name: string) => `postgres://${USER}@127.0.0.1:${port}/${name}`;
  return {
    async freshDatabase(prepare) {
      const name = `test_${process.pid}_${Date.now().toString(36)}_${++databases}`;
      const sql = new SQL({ url: urlOf('postgres'), max: 1 });
      // Postgres refuses two concurrent copies of a template, so a lock makes them wait.
      await sql.unsafe(`SELECT pg_advisory_lock(1)`);
      const [{ version, isPrepared }] = await sql`SELECT current_setting('server_version_num')::int AS version,
        EXISTS (SELECT FROM pg_database WHERE datname = ${TEMPLATE}) AS "isPrepared"`;
      if (prepare && !isPrepared) {
        await sql.unsafe(`CREATE DATABASE ${TEMPLATE}_new TEMPLATE template0`);
        await prepare(urlOf(`${TEMPLATE}_new`));
        await sql.unsafe(`ALTER DATABASE ${TEMPLATE}_new RENAME TO ${TEMPLATE}`);
      }
      // Copying the files takes a third of the time of writing all pages to the log.
      const strategy = version >= 150_000 ? 'STRATEGY file_copy' : '';
      await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${prepare ? TEMPLATE : 'template0'} ${strategy}`);
      await sql.close();
      return urlOf(name);
    },
    async dropDatabases(urls) {
      const sql = new SQL({ url: urlOf('postgres'), max: 1 });
      const connected = await sql`SELECT DISTINCT datname FROM pg_stat_activity WHERE datname IS NOT NULL`;
      const inUse = new Set(connected.map(({ datname }: { datname: string }) => urlOf(datname)));
      for (const url of urls) {
        if (!inUse.has(url)) await sql.unsafe(`DROP DATABASE ${url.slice(url.lastIndexOf('/') + 1)}`);
      }
      await sql.close();
    },
  };
}

/** Runs a shell command when a process has ended in any way: the test runner has no hook for its exit. */
export function whenGone(command: string, pid = process.pid): void {
  if (pid === process.pid) {
    watcher ??= startWatcher();
    watcher.write(`${command}\n`);
    return;
  }
  // In the background of a shell that ends: with `--parallel` the runner kills what a test file has started.
  const watch = `(trap "" TERM INT HUP; while kill -0 ${pid} 2>/dev/null; do sleep 1; done; ${command}) &`;
  spawnSync('sh', ['-c', watch], { stdio: 'ignore' });
}

let watcher: Writable | undefined;

/** A shell that runs the lines it was given when this process has ended: then its input ends. Until then it takes no processor time. */
function startWatcher(): Writable {
  const watch =
    'exec 3<&0; (trap "" TERM INT HUP; all=; while read -r line <&3; do all="$all$line;"; done; eval "$all") & wait';
  const child = spawn('sh', ['-c', watch], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  child.unref();
  return child.stdin;
}
