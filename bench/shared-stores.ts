/** Postgres and Redis of a fleet, on an address that other machines reach. */
import { appendFileSync, chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { output } from './peer.ts';

export interface Stores {
  databaseUrl: string;
  redisUrl: string;
  stop(): Promise<void>;
}

const POSTGRES = '/usr/lib/postgresql';
const USER = 'modelport';
/** Where they listen. */
interface Ports {
  postgres: number;
  redis: number;
}
const USUAL_PORTS: Ports = { postgres: 5432, redis: 6379 };
const REDIS_BOUND_MS = 30_000;

/** The folder of Postgres' programs: Debian has one for each version, and others have them on the PATH. */
function postgresFolder(): string | undefined {
  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(POSTGRES, version, 'bin')),
    ...(process.env.PATH ?? '').split(':'),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'pg_ctl')));
}

export function storesMissing(): string | undefined {
  if (!postgresFolder()) return 'Postgres is not installed';
  if (!Bun.which('redis-server')) return 'redis-server is not on the PATH';
  return undefined;
}

/** Postgres as its packages configure it, with durable commits; Redis without a file. Both are on this address alone. */
export async function startStores(folder: string, address: string, ports = USUAL_PORTS): Promise<Stores> {
  const stopPostgres = await startPostgres(join(folder, 'postgres'), address, ports.postgres);
  let redis: ReturnType<typeof startRedis> | undefined;
  const stop = async () => {
    redis?.kill('SIGKILL');
    await redis?.exited;
    await stopPostgres();
  };
  try {
    redis = startRedis(folder, address, ports.redis);
    await redisAnswers(address, ports.redis);
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  return {
    databaseUrl: `postgres://${USER}@${address}:${ports.postgres}/postgres`,
    redisUrl: `redis://${address}:${ports.redis}`,
    stop,
  };
}

async function startPostgres(home: string, address: string, port: number): Promise<() => Promise<void>> {
  const programs = postgresFolder() ?? '';
  mkdirSync(home);
  // Postgres does not run as root.
  const [uid, gid] = (await Promise.all(['-u', '-g'].map((flag) => output(['id', flag, 'postgres'])))).map(({ text }) =>
    Number(text),
  );
  if (!uid || !gid) throw new Error('there is no user postgres, and Postgres does not run as root');
  chownSync(home, uid, gid);
  chmodSync(join(home, '..'), 0o755);
  const data = join(home, 'data');
  const run = async (program: string, ...args: string[]) => {
    const as = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
    // A server that goes on keeps a pipe open, so what it writes goes to a file.
    const child = Bun.spawn([...as, join(programs, program), ...args], {
      cwd: home,
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: Bun.file(join(home, '..', `${program}.log`)),
    });
    if ((await child.exited) !== 0)
      throw new Error(`${program} failed: ${await Bun.file(join(home, '..', `${program}.log`)).text()}`);
  };
  await run('initdb', '-D', data, '-A', 'trust', '-U', USER, '-E', 'UTF8', '--locale=C');
  appendFileSync(join(data, 'pg_hba.conf'), 'host all all 198.18.0.0/15 trust\n');
  await run('pg_ctl', '-D', data, '-o', `-h ${address} -p ${port} -k ${home}`, '-l', join(home, 'log'), '-w', 'start');
  return () => run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop');
}

function startRedis(folder: string, address: string, port: number) {
  const args = ['--port', String(port), '--bind', address, '--protected-mode', 'no'];
  return Bun.spawn(['redis-server', ...args, '--save', '', '--appendonly', 'no', '--dir', folder], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  });
}

async function redisAnswers(address: string, port: number): Promise<void> {
  const until = performance.now() + REDIS_BOUND_MS;
  for (;;) {
    try {
      const socket = await Bun.connect({ hostname: address, port, socket: { data() {} } });
      socket.end();
      return;
    } catch (thrown) {
      if (performance.now() > until) throw thrown;
      await Bun.sleep(20);
    }
  }
}
