/** `npm run bench -- --fleet`: gateways of one, two and four processes, two gateways that share Postgres and Redis, and two machines. */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { coreCount } from './machine.ts';
import type { Peer } from './peer.ts';
import { PEERS } from './peers.ts';
import { treeUse } from './processes.ts';
import { load, type Running, startPeer, startUpstream } from './running.ts';
import { runTwoMachines } from './two-machines.ts';
import { CHAT_PATH, writeRequest } from './workload.ts';

export interface Setup {
  title: string;
  /** The row of the peers. */
  peer: string;
  processes: number;
  gateways: number;
}

export const SETUPS: readonly Setup[] = [
  { title: '1 process, SQLite', peer: 'modelport', processes: 1, gateways: 1 },
  { title: '2 processes, SQLite', peer: 'modelport', processes: 2, gateways: 1 },
  { title: '4 processes, SQLite', peer: 'modelport', processes: 4, gateways: 1 },
  { title: '1 process, Postgres and Redis', peer: 'modelport-shared', processes: 1, gateways: 1 },
  { title: '2 processes, Postgres and Redis', peer: 'modelport-shared', processes: 2, gateways: 1 },
  { title: '2 gateways, Postgres and Redis', peer: 'modelport-shared', processes: 1, gateways: 2 },
];

export interface FleetRow {
  title: string;
  requestsPerSecond: number;
  cpuPerRequestUs: number;
  memoryMb: number;
  failures: number;
}

const CONNECTIONS = 32;
/** What `--only` calls the machines. */
export const TWO_MACHINES = 'two-machines';
/** Once to warm up, then measured. */
const WARM_UP_TIMES = 3;

/** Gateways of one database need the same. */
const SECRET_KEY = 'the key of every gateway of the fleet';

const withProcesses = (peer: Peer, processes: number): Peer => ({
  ...peer,
  launch(place) {
    const launch = peer.launch(place);
    const environment = { MODELPORT_PROCESSES: String(processes), MODELPORT_SECRET_KEY: SECRET_KEY };
    return { ...launch, environment: { ...launch.environment, ...environment } };
  },
});

async function measure({ title }: Setup, running: readonly Running[], seconds: number): Promise<FleetRow> {
  const cpu = () => running.reduce((sum, { pid }) => sum + treeUse(pid).cpuMicroseconds, 0);
  const once = (length: number) =>
    Promise.all(
      running.map(({ port, headers }) => {
        const shape = { type: 'closed', connections: CONNECTIONS / running.length, seconds: length } as const;
        return load({ port, path: CHAT_PATH, headers, body: writeRequest(), shape, lateMs: 50 }, length + 30);
      }),
    );
  await once(seconds * WARM_UP_TIMES);
  const before = cpu();
  const reports = await once(seconds);
  const spent = cpu() - before;
  const answers = reports.reduce((sum, report) => sum + report.answers, 0);
  return {
    title,
    requestsPerSecond: answers / seconds,
    cpuPerRequestUs: spent / answers,
    memoryMb: running.reduce((sum, { pid }) => sum + treeUse(pid).residentMb, 0),
    failures: reports.reduce((sum, { failures }) => sum + failures, 0),
  };
}

/** The rows as a table in Markdown. */
export function writeFleet(rows: readonly FleetRow[]): string {
  const lines = rows.map(
    ({ title, requestsPerSecond, cpuPerRequestUs, memoryMb, failures }) =>
      `| ${title} | ${requestsPerSecond.toFixed(0)} | ${cpuPerRequestUs.toFixed(0)} | ${memoryMb.toFixed(0)} | ${failures} |`,
  );
  return [
    '|  | requests a second | CPU per request, µs | memory of all gateways, MB | failed |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...lines,
  ].join('\n');
}

/** Measures each setup that can run here and returns the text to print. */
export async function runFleet(seconds: number, only: readonly string[]): Promise<string> {
  const isChosen = (name: string) => only.length === 0 || only.includes(name);
  const rows: FleetRow[] = [];
  const missing = new Set<string>();
  const folder = mkdtempSync(join(tmpdir(), 'modelport-fleet-'));
  const upstream = await startUpstream();
  const loadBefore = loadavg()[0] ?? Number.NaN;
  try {
    for (const [index, setup] of SETUPS.filter(({ peer }) => isChosen(peer)).entries()) {
      const peer = PEERS.find(({ name }) => name === setup.peer);
      const why = peer ? await peer.missing() : `there is no ${setup.peer}`;
      if (!peer || why !== undefined) {
        missing.add(`${setup.peer} was left out: ${why}`);
        continue;
      }
      console.error(setup.title);
      const running: Running[] = [];
      try {
        for (let count = 0; count < setup.gateways; count++) {
          const place = join(folder, `${index}-${count}`);
          running.push(await startPeer(withProcesses(peer, setup.processes), upstream.port, place));
        }
        rows.push(await measure(setup, running, seconds));
      } finally {
        await Promise.all(running.map((gateway) => gateway.stop()));
      }
    }
  } finally {
    await upstream.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const machines = isChosen(TWO_MACHINES) ? ['', await runTwoMachines(seconds)] : [];
  const machine = `${coreCount()} cores, shared with the load and the upstream; load average before: ${loadBefore.toFixed(1)}`;
  return [...(rows.length > 0 ? [writeFleet(rows), '', machine] : []), ...missing, ...machines].join('\n').trim();
}
