/** `npm run bench`: compares this gateway with nginx and Portkey in front of the same mock upstream, in interleaved rounds. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Baseline, type Figures, measureBaseline, measurePeer } from './measures.ts';
import { type Options, readOptions } from './options.ts';
import { PEERS, type Peer } from './peers.ts';
import { PROCESS_SOURCE } from './processes.ts';
import { type GatewayResult, medians, type Result, withRatios, writePage, writeTable } from './report.ts';
import { startPeer, startUpstream } from './running.ts';

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
  baselines: Baseline[];
  figures: Map<Peer, Figures[]>;
}

async function runRounds(peers: readonly Peer[], options: Options, folder: string): Promise<Rounds> {
  const rounds: Rounds = { baselines: [], figures: new Map(peers.map((peer) => [peer, []])) };
  const upstream = await startUpstream();
  try {
    for (let round = 1; round <= options.rounds; round++) {
      const baseline = await measureBaseline({ port: upstream.port, headers: {} }, options.seconds);
      rounds.baselines.push(baseline);
      for (const peer of peers) {
        console.error(`round ${round} of ${options.rounds}: ${peer.title}`);
        const running = await startPeer(peer, upstream.port, join(folder, `${peer.name}-${round}`));
        try {
          rounds.figures.get(peer)?.push(await measurePeer(running, options.seconds, baseline));
        } finally {
          await running.stop();
        }
      }
    }
  } finally {
    await upstream.stop();
  }
  return rounds;
}

async function run(options: Options): Promise<Result> {
  const { peers, missing } = await choosePeers(options.only);
  const folder = mkdtempSync(join(tmpdir(), 'modelport-bench-'));
  try {
    const { baselines, figures } = await runRounds(peers, options, folder);
    const gateways: GatewayResult[] = [];
    for (const [peer, measured] of figures) {
      const { name, title } = peer;
      gateways.push({ name, title, version: await peer.version(), figures: medians(measured) });
    }
    return {
      at: new Date().toISOString(),
      system: `${process.platform} ${process.arch}, Bun ${Bun.version}`,
      cores: cpus().length,
      rounds: options.rounds,
      seconds: options.seconds,
      baseline: medians(baselines),
      gateways: withRatios(gateways),
      missing,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const options = readOptions(process.argv.slice(2));
if (typeof options === 'string') {
  console.error(options);
  process.exit(2);
}
try {
  const result = await run(options);
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, `${result.at.replaceAll(':', '-')}.json`), `${JSON.stringify(result, null, 2)}\n`);
  if (options.writeDocs) writeFileSync(join(ROOT, 'docs', 'reference', 'benchmarks.md'), writePage(result));
  console.log(writeTable(result));
  process.exit(0);
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.message : thrown);
  process.exit(1);
}
