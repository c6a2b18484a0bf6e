/**
 * Two machines behind a load balancer, for `npm run bench -- --fleet`: two network namespaces with a gateway each; nginx, Postgres, Redis, the
 * upstream and the load in a third one. Started by `runTwoMachines`, this file runs as a process inside that third one.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadReport } from './load.ts';
import { coreCount } from './machine.ts';
import { createNetwork, HUB_ADDRESS, inNamespace, type Machine, namespacesMissing } from './namespaces.ts';
import type { Peer } from './peer.ts';
import { nginxFiles, PEERS } from './peers.ts';
import { treeUse } from './processes.ts';
import { load, type Running, startPeer, startUpstream } from './running.ts';
import { startStores, storesMissing } from './shared-stores.ts';
import { CHAT_PATH, type Pace, writeRequest } from './workload.ts';

const MACHINES = 2;
const BALANCER_PORT = 8000;
const BALANCER_WORKERS = 4;
const CONNECTIONS = 32;
const LATE_MS = 50;
const WANTED_STREAMS = 10_000;
/** Of each process besides its streams. */
const OTHER_FILES = 1000;
const SPREAD_SECONDS = 20;
/** Longer than the time over which the streams begin, so that all are open at once. */
const STREAM: Pace = { chunks: 60, everyMs: 1000 };
const STREAMS_BOUND_SECONDS = 240;

export interface MachinesRow {
  title: string;
  requestsPerSecond: number;
  cpuPerRequestUs: number;
  p50Ms: number;
  p99Ms: number;
  memoryMb: number;
  failures: number;
}

export interface StreamsRow {
  /** The most that were open at the same time. */
  streams: number;
  firstTokenP99Ms: number;
  chunks: number;
  latePercent: number;
  cpuPerChunkUs: number;
  memoryMb: number;
  failures: number;
}

/** nginx as docs/guides/deployment.md says: connections kept, nothing buffered, no health check. */
export const balancerConfiguration = (folder: string, gateways: readonly { host: string; port: number }[]): string => `
daemon off;
user root;
worker_processes ${BALANCER_WORKERS};
worker_rlimit_nofile ${WANTED_STREAMS + OTHER_FILES};
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections ${WANTED_STREAMS + OTHER_FILES}; }
http {
${nginxFiles(folder)}
  upstream gateways {
${gateways.map(({ host, port }) => `    server ${host}:${port};`).join('\n')}
    keepalive 64;
  }
  server {
    listen 127.0.0.1:${BALANCER_PORT} reuseport backlog=4096;
    keepalive_requests 1000000000;
    location / {
      proxy_pass http://gateways;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 600s;
    }
  }
}
`;

export function writeMachines(rows: readonly MachinesRow[], streams: StreamsRow | undefined): string {
  const lines = rows.map(
    ({ title, requestsPerSecond, cpuPerRequestUs, p50Ms, p99Ms, memoryMb, failures }) =>
      `| ${title} | ${requestsPerSecond.toFixed(0)} | ${cpuPerRequestUs.toFixed(0)} | ${p50Ms.toFixed(1)} | ${p99Ms.toFixed(1)} | ${memoryMb.toFixed(0)} | ${failures} |`,
  );
  const table = [
    '|  | requests a second | CPU per request, µs | p50, ms | p99, ms | memory of all gateways, MB | failed |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...lines,
  ];
  if (!streams) return table.join('\n');
  const { firstTokenP99Ms, chunks, latePercent, cpuPerChunkUs, memoryMb, failures } = streams;
  return [
    ...table,
    '',
    '| open streams on two machines | first token p99, ms | chunks | late chunks, % | CPU per chunk, µs | memory of both gateways, MB | failed |',
    '| ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    `| ${streams.streams} | ${firstTokenP99Ms.toFixed(0)} | ${chunks} | ${latePercent.toFixed(2)} | ${cpuPerChunkUs.toFixed(0)} | ${memoryMb.toFixed(0)} | ${failures} |`,
  ].join('\n');
}

/** Runs both measurements, and returns the text to print or a sentence that says why it cannot. */
export async function runTwoMachines(seconds: number): Promise<string> {
  const why = namespacesMissing() ?? storesMissing() ?? (Bun.which('nginx') ? undefined : 'nginx is not on the PATH');
  if (why !== undefined) return `Two machines were left out: ${why}.`;
  const folder = mkdtempSync(join(tmpdir(), 'modelport-machines-'));
  const network = await createNetwork(MACHINES).catch((thrown: Error) => thrown.message);
  if (typeof network === 'string') return `Two machines were left out: ${network}.`;
  try {
    const program = [process.execPath, import.meta.path, folder, String(seconds), JSON.stringify(network.machines)];
    // As many open files as the system allows.
    const child = Bun.spawn(
      ['sh', '-c', 'ulimit -n "$(ulimit -Hn)"; exec "$@"', 'sh', ...inNamespace(network.hub), ...program],
      { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
    );
    const text = await child.stdout.text();
    if ((await child.exited) !== 0) throw new Error('the measurement of two machines failed');
    return text.trimEnd();
  } finally {
    await network.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The gateway of a machine: everything on, limits counted in Redis. */
function fleetPeer(stores: { databaseUrl: string; redisUrl: string }): Peer {
  const limited = PEERS.find(({ name }) => name === 'modelport-limited');
  if (!limited) throw new Error('there is no modelport-limited');
  return {
    ...limited,
    launch(place) {
      const launch = limited.launch(place);
      const environment = {
        ...launch.environment,
        DATABASE_URL: stores.databaseUrl,
        REDIS_URL: stores.redisUrl,
        MODELPORT_SECRET_KEY: 'the key of every gateway of the fleet',
        MODELPORT_ACCOUNT_CALLS: String(2 * WANTED_STREAMS),
      };
      return { ...launch, environment };
    },
  };
}

interface Fleet {
  gateways: readonly Running[];
  headers: { readonly [name: string]: string };
}

/** What all gateways have used, and the most memory since `highest` was set to zero. */
const useOf = ({ gateways }: Fleet) => {
  const uses = gateways.map(({ pid }) => treeUse(pid));
  return {
    cpuMicroseconds: uses.reduce((sum, use) => sum + use.cpuMicroseconds, 0),
    residentMb: uses.reduce((sum, use) => sum + use.residentMb, 0),
  };
};

async function whileMeasured(fleet: Fleet, work: () => Promise<LoadReport>) {
  const before = useOf(fleet);
  let memoryMb = before.residentMb;
  const timer = setInterval(() => {
    memoryMb = Math.max(memoryMb, useOf(fleet).residentMb);
  }, 500);
  const report = await work().finally(() => clearInterval(timer));
  return { report, memoryMb, cpuMicroseconds: useOf(fleet).cpuMicroseconds - before.cpuMicroseconds };
}

async function measureCalls(title: string, fleet: Fleet, seconds: number): Promise<MachinesRow> {
  const once = (length: number) => {
    const shape = { type: 'closed', connections: CONNECTIONS, seconds: length } as const;
    const request = { port: BALANCER_PORT, path: CHAT_PATH, headers: fleet.headers, body: writeRequest() };
    return load({ ...request, shape, lateMs: LATE_MS }, length + 60);
  };
  await once(seconds * 3);
  const { report, memoryMb, cpuMicroseconds } = await whileMeasured(fleet, () => once(seconds));
  return {
    title,
    requestsPerSecond: report.answers / report.seconds,
    cpuPerRequestUs: cpuMicroseconds / report.answers,
    p50Ms: report.p50Ms,
    p99Ms: report.p99Ms,
    memoryMb,
    failures: report.failures,
  };
}

async function measureStreams(fleet: Fleet, streams: number): Promise<StreamsRow> {
  const shape = {
    type: 'once',
    connections: streams,
    spreadSeconds: SPREAD_SECONDS,
    boundSeconds: STREAMS_BOUND_SECONDS,
  } as const;
  const request = { port: BALANCER_PORT, path: CHAT_PATH, headers: fleet.headers, body: writeRequest(STREAM) };
  const { report, memoryMb, cpuMicroseconds } = await whileMeasured(fleet, () =>
    load({ ...request, shape, lateMs: LATE_MS }, STREAMS_BOUND_SECONDS + 60),
  );
  return {
    streams: report.mostStreams,
    firstTokenP99Ms: report.firstByteP99Ms,
    chunks: report.chunks,
    latePercent: (100 * report.lateChunks) / report.chunks,
    cpuPerChunkUs: cpuMicroseconds / report.chunks,
    memoryMb,
    failures: report.failures,
  };
}

/** Starts nginx in front of these gateways while the work runs. */
async function behindBalancer<T>(folder: string, gateways: readonly Running[], work: () => Promise<T>): Promise<T> {
  mkdirSync(folder);
  const path = join(folder, 'nginx.conf');
  writeFileSync(path, balancerConfiguration(folder, gateways));
  const nginx = Bun.spawn(['nginx', '-p', folder, '-e', 'stderr', '-c', path], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'inherit',
  });
  try {
    return await work();
  } finally {
    nginx.kill('SIGTERM');
    await nginx.exited;
  }
}

/** As many streams as a process may open files for: the load and the upstream have all of them. */
async function allowedStreams(): Promise<number> {
  const files = Number(await new Response(Bun.spawn(['sh', '-c', 'ulimit -n']).stdout).text());
  return Math.min(WANTED_STREAMS, (Number.isNaN(files) ? Number.POSITIVE_INFINITY : files) - OTHER_FILES);
}

async function measureInside(folder: string, seconds: number, machines: readonly Machine[]): Promise<string> {
  const loadBefore = loadavg()[0] ?? Number.NaN;
  const upstream = await startUpstream('0.0.0.0');
  const stores = await startStores(folder, HUB_ADDRESS);
  const gateways: Running[] = [];
  try {
    for (const { namespace, address } of machines) {
      const where = { under: inNamespace(namespace), host: address, upstreamHost: HUB_ADDRESS };
      gateways.push(await startPeer(fleetPeer(stores), upstream.port, join(folder, namespace), where));
    }
    const [first] = gateways;
    if (!first) throw new Error('there is no machine');
    const { headers } = first;
    const one = { gateways: [first], headers };
    const all = { gateways, headers };
    console.error('one machine behind nginx');
    const rows = [
      await behindBalancer(join(folder, 'one'), one.gateways, () => measureCalls('1 machine', one, seconds)),
    ];
    const streams = await behindBalancer(join(folder, 'all'), gateways, async () => {
      console.error('two machines behind nginx');
      rows.push(await measureCalls('2 machines', all, seconds));
      const count = await allowedStreams();
      console.error(`${count} streams over two machines`);
      return measureStreams(all, count);
    });
    return `${writeMachines(rows, streams)}\n\nMachines are network namespaces with one process each, behind nginx, with Postgres (durable commits) and Redis; ${coreCount()} cores for all of it; load average before: ${loadBefore.toFixed(1)}`;
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await stores.stop();
    await upstream.stop();
  }
}

if (import.meta.main) {
  const [folder = '', seconds = '', machines = ''] = process.argv.slice(2);
  try {
    console.log(await measureInside(folder, Number(seconds), JSON.parse(machines)));
    process.exit(0);
  } catch (thrown) {
    console.error(thrown instanceof Error ? thrown.message : thrown);
    process.exit(1);
  }
}
