/** `npm run bench`: compares this gateway with nginx and gateways of others in front of the same mock upstream, in interleaved rounds. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { putBetweenMarks, writeExpectations } from './expectations.ts';
import { runFleet } from './fleet.ts';
import { coreCount, machineNow, useSince } from './machine.ts';
import { type Baseline, type Figures, type GatewayResult, measureBaseline, measurePeer } from './measures.ts';
import { type Options, readOptions } from './options.ts';
import type { Peer } from './peer.ts';
import { PEERS } from './peers.ts';
import { PROCESS_SOURCE } from './processes.ts';
import { medians, type Result, withRatios, writePage, writeTable } from './report.ts';
import { freePort, startPeer, startUpstream } from './running.ts';
import { type Stores, startStores, storesMissing } from './shared-stores.ts';
import { runSoak } from './soak.ts';
import { CHAT_PATH } from './workload.ts';

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

interface Rounds {
  count: number;
  baselines: Baseline[];
  figures: Map<Peer, Figures[]>;
  /** What happened to gateways of others that were left out, one sentence each. */
  leftOut: string[];
}

async function runOnce(
  peer: Peer,
  upstreamPort: number,
  folder: string,
  { seconds }: Options,
  baseline: Baseline,
): Promise<Figures> {
  const running = await startPeer(peer, upstreamPort, folder);
  try {
    return await measurePeer(running, seconds, baseline, peer);
  } finally {
    await running.stop();
  }
}

async function runRounds(peers: readonly Peer[], options: Options, folder: string): Promise<Rounds> {
  const rounds: Rounds = { count: 0, baselines: [], figures: new Map(peers.map((peer) => [peer, []])), leftOut: [] };
  const begun = performance.now();
  const upstream = await startUpstream();
  try {
    for (let round = 1, ownMs = 0; round <= options.rounds; round++) {
      // The round before took as long without the gateways of others.
      if (round > 1 && performance.now() + ownMs - begun > options.minutes * 60_000) break;
      ownMs = 0;
      const baseline = await measureBaseline({ port: upstream.port, path: CHAT_PATH, headers: {} }, options.seconds);
      rounds.baselines.push(baseline);
      for (const [peer, measured] of rounds.figures) {
        if (peer.isOther && round > 1) continue;
        console.error(`round ${round} of ${options.rounds}: ${peer.title}`);
        const started = performance.now();
        try {
          measured.push(await runOnce(peer, upstream.port, join(folder, `${peer.name}-${round}`), options, baseline));
        } catch (thrown) {
          if (!peer.isOther) throw thrown;
          rounds.figures.delete(peer);
          rounds.leftOut.push(`${peer.title} was left out: ${thrown instanceof Error ? thrown.message : thrown}`);
        }
        if (!peer.isOther) ownMs += performance.now() - started;
      }
      rounds.count = round;
    }
  } finally {
    await upstream.stop();
  }
  return rounds;
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
    const { count, baselines, figures, leftOut } = await runRounds(peers, options, folder);
    const gateways: GatewayResult[] = [];
    for (const [peer, measured] of figures) {
      const { name, title, does, settings, isOther } = peer;
      const costs = measured.map(({ cpuPerRequestUs }) => cpuPerRequestUs);
      const spread = [Math.min(...costs), Math.max(...costs)] as const;
      const version = await peer.version();
      gateways.push({ name, title, does, settings, isOther, version, figures: medians(measured), spread });
    }
    return {
      at: new Date().toISOString(),
      system: `${process.platform} ${process.arch}, Bun ${Bun.version}`,
      cores: coreCount(),
      machine: { ...useSince(begun), loadBefore },
      rounds: count,
      seconds: options.seconds,
      baseline: medians(baselines),
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

const options = readOptions(process.argv.slice(2));
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
