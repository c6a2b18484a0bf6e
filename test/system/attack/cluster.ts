/** Four gateways on one database, one behind a link that can be interrupted and one in a PID namespace of its own; and the disasters. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DatabaseLink, openDatabaseLink } from '../../helpers/database-link.ts';
import { type GatewayProcess, spawnModelport, startGateway } from '../../helpers/gateway-process.ts';
import { startPostgres, whenGone } from '../../helpers/postgres.ts';
import { hasRedis, startRedis } from '../../helpers/redis-server.ts';

export const COUNT = 4;
const LEASE_MS = 4000;
/** So much longer than a lease that others have settled the process's holds. */
const AWAY_MS = LEASE_MS + 2000;
const PLAIN = 0;
const CUT_OFF = 1;
const ELSEWHERE = 2;
const KILLED = 3;

const NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
const canUnshare = spawnSync(NAMESPACE[0]!, [...NAMESPACE.slice(1), 'true']).status === 0;
if (!canUnshare)
  console.warn('No PID namespaces may be made here: all gateways of the storm run in one, tests of two are skipped.');

/** When a process was ended, on the clock of `performance.now()`: from the signal until it was gone. */
export interface Ending {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The disasters of a round. */
export type Outage = 'kill' | 'partition' | 'freeze' | 'stop';

/** Two per round; each pair occurs within six rounds. */
export const OUTAGES: readonly (readonly Outage[])[] = [
  ['kill', 'partition'],
  ['freeze', 'stop'],
  ['partition', 'freeze'],
  ['kill', 'stop'],
  ['partition', 'stop'],
  ['kill', 'freeze'],
];

export interface Cluster {
  readonly gateways: readonly GatewayProcess[];
  /** Limits are counted over all gateways. */
  readonly hasRedis: boolean;
  /** When this gateway was killed. */
  kills(gateway: number): readonly Ending[];
  /** When it was stopped during calls. */
  stops(gateway: number): readonly Ending[];
  /** Resolves when it is over and everything runs again. */
  inject(outage: Outage): Promise<void>;
  /** Runs `modelport ledger verify` as users do. */
  verify(): Promise<{ code: number | null; output: string }>;
  /** Stops all gateways and starts one with their data. */
  restart(): Promise<void>;
  /** All log lines. */
  log(): string;
  close(): Promise<void>;
}

/** What differs between the database engines. */
interface EngineSetup {
  environment: { [name: string]: string };
  /** The settings of the gateway behind the link. */
  overLink: { [name: string]: string };
  link: DatabaseLink | undefined;
  freeze(ms: number): Promise<void>;
}

export async function startCluster(engine: 'SQLite' | 'Postgres'): Promise<Cluster> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'modelport-attack-'));
  whenGone(`rm -rf ${dataFolder}`);
  const setup = engine === 'Postgres' ? await onPostgres() : onSqlite(dataFolder);
  const redis = hasRedis ? await startRedis() : undefined;
  const environment = {
    // Processes that count alone while a busy machine's Redis does not answer may together let in more than the limit.
    ...(redis && { REDIS_URL: redis.url, MODELPORT_REDIS_TIMEOUT_MS: '5000' }),
    MODELPORT_LEASE_MS: `${LEASE_MS}`,
    MODELPORT_DRAIN_MS: '500',
    ...setup.environment,
  };
  const start = (place: number) =>
    startGateway({
      dataFolder,
      environment: { ...environment, ...(place === CUT_OFF && setup.overLink) },
      ...(place === ELSEWHERE && canUnshare && { under: NAMESPACE }),
    });
  const gateways = [await start(PLAIN)];
  for (let place = 1; place < COUNT; place++) gateways.push(await start(place));
  const kills: Ending[][] = gateways.map(() => []);
  const stops: Ending[][] = gateways.map(() => []);
  const former: GatewayProcess[] = [];
  let cuts = 0;
  let freezes = 0;

  async function kill(place: number): Promise<void> {
    const gateway = gateways[place]!;
    former.push(gateway);
    await ending(kills[place]!, () => gateway.kill());
    await Bun.sleep(300);
    gateways[place] = await start(place);
  }

  /** As a deployment does: active calls get a moment to end. */
  async function stop(place: number): Promise<void> {
    const gateway = gateways[place]!;
    former.push(gateway);
    const code = await ending(stops[place]!, () => gateway.stop('keep'));
    if (code !== 0) throw new Error(`a gateway did not stop well:\n${gateway.log()}`);
    gateways[place] = await start(place);
  }

  async function partition(): Promise<void> {
    const gateway = gateways[CUT_OFF]!;
    if (setup.link) setup.link.cut();
    else gateway.signal('SIGSTOP');
    await Bun.sleep(AWAY_MS);
    if (setup.link) setup.link.normalize(++cuts % 2 === 1 ? 'reset' : 'resumed');
    else gateway.signal('SIGCONT');
  }

  const injectors = {
    kill: () => kill(KILLED),
    stop: () => stop(PLAIN),
    partition,
    // Every other time longer than a lease, so that no process has one.
    freeze: () => setup.freeze(freezes++ % 2 === 0 ? 2500 : AWAY_MS + 1000),
  } satisfies { [outage in Outage]: () => Promise<void> };

  return {
    gateways,
    hasRedis,
    kills: (place) => kills[place] ?? [],
    stops: (place) => stops[place] ?? [],
    inject: (outage) => injectors[outage](),
    async verify() {
      const verifying = spawnModelport(['ledger', 'verify'], { MODELPORT_DATA_DIR: dataFolder, ...environment });
      return { code: await verifying.exited, output: verifying.log() };
    },
    async restart() {
      for (const [place, gateway] of gateways.entries()) {
        former.push(gateway);
        // The namespace's parent process does not pass signals on.
        if (place === ELSEWHERE && canUnshare) await gateway.kill();
        else if ((await gateway.stop('keep')) !== 0) throw new Error(`a gateway did not stop well:\n${gateway.log()}`);
      }
      gateways.splice(0, COUNT, await start(PLAIN));
    },
    log: () => [...former, ...gateways].map((gateway) => gateway.log()).join(''),
    async close() {
      for (const gateway of gateways) await gateway.kill();
      await setup.link?.close();
      await redis?.stop();
    },
  };
}

/** A process that was sent a signal may still take calls. */
async function ending<T>(of: Ending[], end: () => Promise<T>): Promise<T> {
  const fromMs = performance.now();
  const place = of.push({ fromMs, untilMs: Number.POSITIVE_INFINITY }) - 1;
  const result = await end();
  of[place] = { fromMs, untilMs: performance.now() };
  return result;
}

async function onPostgres(): Promise<EngineSetup> {
  const postgres = await startPostgres();
  const url = await postgres.freshDatabase();
  const link = await openDatabaseLink(url);
  return {
    environment: { DATABASE_URL: url },
    overLink: { DATABASE_URL: link.url },
    link,
    async freeze(ms) {
      postgres.signal('SIGSTOP');
      try {
        await Bun.sleep(ms);
      } finally {
        postgres.signal('SIGCONT');
      }
    },
  };
}

/** Another program holds the lock for a while. */
function onSqlite(dataFolder: string): EngineSetup {
  const file = join(dataFolder, 'modelport.db');
  const script = `
    const { Database } = require('bun:sqlite');
    const file = new Database(${JSON.stringify(file)});
    file.run('PRAGMA busy_timeout = 10000');
    file.run('BEGIN IMMEDIATE');
    setTimeout(() => file.run('ROLLBACK'), Number(process.argv[1]));`;
  return {
    environment: {},
    overLink: {},
    link: undefined,
    freeze: (ms) => ended(spawn(process.execPath, ['-e', script, String(ms)], { stdio: 'inherit' })),
  };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`a helper ended with ${code}`))));
  });
}
