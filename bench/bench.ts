/** `npm run bench`: compares this gateway with nginx and gateways of others in front of the same mock upstream, in windows in turn. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { compare } from './compare.ts';
import { putBetweenMarks, writeExpectations } from './expectations.ts';
import type { GatewayResult } from './figures.ts';
import { runFleet, TWO_MACHINES } from './fleet.ts';
import { coreCount, machineNow, useSince } from './machine.ts';
import { type Options, readOptions } from './options.ts';
import type { Peer } from './peer.ts';
import { PEERS } from './peers.ts';
import { PROCESS_SOURCE } from './processes.ts';
import { withRatios } from './ratios.ts';
import { type Result, writePage, writeTable } from './report.ts';
import { freePort } from './running.ts';
import { type Stores, startStores, storesMissing } from './shared-stores.ts';
import { runSoak } from './soak.ts';

const ROOT = dirname(import.meta.dir);
const RESULTS = join(import.meta.dir, 'results');

/** The gateways that can run here, and a sentence for each that cannot. */
async function choosePeers(only: readonly string[]): Promise<{ peers: Peer[]; missing: string[] }> {
  const peers: Peer[] = [];
  const missing: string[] = [];
  for (const peer of PEERS.filter(({ name }) => only.length === 0 || only.includes(name))) {
    const why = await peer.missing();
    if (why === undefined) peers.push(peer);
    else missing.push(why);
  }
  if (PROCESS_SOURCE === 'ps') missing.push('There is no /proc here: CPU times come from ps, with a lower resolution.');
  return { peers, missing };
}

/** Postgres and Redis of the run, if none are given and both are installed. */
async function startOwnStores(only: readonly string[], folder: string): Promise<Stores | undefined> {
  const { BENCH_DATABASE_URL, BENCH_REDIS_URL } = process.env;
  const isAsked = only.length === 0 || only.includes('modelport-shared');
  if (!isAsked || BENCH_DATABASE_URL || BENCH_REDIS_URL || process.getuid?.() !== 0 || storesMissing())
    return undefined;
  const ports = { postgres: await freePort(), redis: await freePort() };
  const stores = await startStores(folder, '127.0.0.1', ports);
  process.env.BENCH_DATABASE_URL = stores.databaseUrl;
  process.env.BENCH_REDIS_URL = stores.redisUrl;
  return stores;
}

async function run(options: Options): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-bench-'));
  const stores = await startOwnStores(options.only, folder);
  try {
    const { peers, missing } = await choosePeers(options.only);
    const [loadBefore, begun] = [loadavg()[0] ?? Number.NaN, machineNow()];
    const { baseline, results, leftOut } = await compare(peers, options, folder);
    const gateways: GatewayResult[] = [];
    for (const [peer, measured] of results) {
      const { name, title, does, settings, isOther } = peer;
      gateways.push({ name, title, does, settings, isOther, version: await peer.version(), ...measured });
    }
    return {
      at: new Date().toISOString(),
      system: `${process.platform} ${process.arch}, Bun ${Bun.version}`,
      cores: coreCount(),
      machine: { ...useSince(begun), loadBefore },
      windows: options.windows,
      seconds: options.seconds,
      baseline,
      gateways: withRatios(gateways),
      missing: [...missing, ...leftOut],
    };
  } finally {
    await stores?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeDocs(result: Result): void {
  const docs = join(ROOT, 'docs');
  writeFileSync(join(docs, 'reference', 'benchmarks.md'), writePage(result));
  const expected = writeExpectations(result.gateways);
  if (!expected) return;
  const guide = join(docs, 'guides', 'scale.md');
  writeFileSync(guide, putBetweenMarks(readFileSync(guide, 'utf8'), expected));
}

/** A soak of one gateway; resolves with the exit code. */
async function soak(minutes: number, only: readonly string[]): Promise<number> {
  const { peers, missing } = await choosePeers(only.length === 0 ? ['modelport'] : only);
  const [peer] = peers;
  if (!peer) throw new Error(missing[0] ?? 'there is no such gateway');
  const faults = await runSoak(peer, minutes, (line) => console.log(line));
  for (const fault of faults) console.log(fault);
  return faults.length === 0 ? 0 : 1;
}

const names = [...PEERS.map(({ name }) => name), TWO_MACHINES];
const options = readOptions(process.argv.slice(2), names);
if (typeof options === 'string') {
  console.error(options);
  process.exit(2);
}
try {
  if (options.soakMinutes !== undefined) process.exit(await soak(options.soakMinutes, options.only));
  if (options.fleet) {
    console.log(await runFleet(options.seconds, options.only));
    process.exit(0);
  }
  const result = await run(options);
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, `${result.at.replaceAll(':', '-')}.json`), `${JSON.stringify(result, null, 2)}\n`);
  if (options.writeDocs) writeDocs(result);
  console.log(options.markdown ? writePage(result) : writeTable(result));
  process.exit(0);
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.message : thrown);
  process.exit(1);
}
