/** Measures this project's gateways and the references at the same time, and then the gateways of others one after the other. */
import { join } from 'node:path';
import { measureAlone, memoryOfManyStreams } from './alone.ts';
import { type Baseline, baselineOf, type Figures, figuresOf, type Sample, type Windows, windowsOf } from './figures.ts';
import type { Options } from './options.ts';
import type { Peer } from './peer.ts';
import { treeUse } from './processes.ts';
import { type Running, startLoadSession, startPeer, startUpstream, type Target } from './running.ts';
import { median } from './statistics.ts';
import { type WarmUp, warmUp } from './warm-up.ts';
import { type Harness, inTurn, measureWindows, type WindowPlan } from './windows.ts';

export type Results = Map<Peer, { figures: Figures; windows: Windows }>;

export interface Comparison {
  baseline: Baseline;
  results: Results;
  /** What happened to gateways of others that were left out, one sentence each. */
  leftOut: string[];
}

/** How gateways that run at the same time are measured. */
interface Method {
  plan: WindowPlan;
  warmUp: WarmUp;
  /** The starts of each gateway; it runs on after the last one. */
  starts: number;
  /** The length of what is measured of one gateway alone. */
  seconds: number;
}

/** Each window at a fixed rate has 500 answers. */
const PACED_SECONDS = 2.5;

const methodOf = ({ windows, seconds }: Options): Method => ({
  plan: { count: windows, seconds: 0.5, pacedCount: Math.max(5, Math.ceil(windows / 3)), pacedSeconds: PACED_SECONDS },
  warmUp: { requests: 60_000, chunks: 100_000, boundSeconds: 60 },
  starts: 5,
  seconds,
});

/** Python compiles nothing while it runs, and is no faster after more of them; Node's compiler is done by then. */
const methodOfOthers = ({ seconds }: Options): Method => ({
  plan: { count: 1, seconds, pacedCount: 1, pacedSeconds: Math.max(PACED_SECONDS, seconds), wholeStreams: true },
  warmUp: { requests: 60_000, chunks: 40_000, boundSeconds: 10 },
  starts: 1,
  seconds,
});

export async function compare(peers: readonly Peer[], options: Options, folder: string): Promise<Comparison> {
  const upstream = await startUpstream();
  const session = startLoadSession();
  const harness = { session, upstream };
  try {
    const own = peers.filter(({ isOther }) => !isOther);
    const { baseline, results } = await measureTogether(harness, own, methodOf(options), folder);
    const leftOut: string[] = [];
    for (const peer of peers.filter(({ isOther }) => isOther)) {
      try {
        const other = await measureTogether(harness, [peer], methodOfOthers(options), folder, baseline);
        for (const [one, result] of other.results) results.set(one, result);
      } catch (thrown) {
        leftOut.push(`${peer.title} was left out: ${thrown instanceof Error ? thrown.message : thrown}`);
      }
    }
    return { baseline, results, leftOut };
  } finally {
    await session.stop();
    await upstream.stop();
  }
}

const SETTLE_MS = 1000;

const progress = (text: string) => console.error(`${new Date().toISOString().slice(11, 19)} ${text}`);

/** Without a baseline the upstream is measured among them, as if it were a gateway. */
async function measureTogether(
  harness: Harness,
  peers: readonly Peer[],
  method: Method,
  folder: string,
  known?: Baseline,
): Promise<{ baseline: Baseline; results: Results }> {
  const { upstream } = harness;
  const start = (peer: Peer, round: number) => startPeer(peer, upstream.port, join(folder, `${peer.name}-${round}`));
  progress(`starts ${peers.map(({ title }) => title).join(', ')}`);
  const coldStarts = await inTurn(peers, method.starts - 1, async (peer, round) => {
    const once = await start(peer, round);
    await once.stop();
    return once.coldStartSeconds;
  });
  const running = new Map<Peer, Running>();
  try {
    for (const peer of peers) running.set(peer, await start(peer, method.starts));
    await Bun.sleep(SETTLE_MS);
    const idleMb = new Map([...running].map(([peer, { pid }]) => [peer, treeUse(pid).residentMb]));
    const samples = await measureTargets(harness, [...(known ? [] : [upstream]), ...running.values()], method);
    const baseline = known ?? baselineOf(sampleOf(samples, upstream));
    const results: Results = new Map();
    for (const [peer, one] of running) {
      const sample = sampleOf(samples, one);
      const figures = figuresOf(sample, baseline, {
        coldStartSeconds: median([...(coldStarts.get(peer) ?? []), one.coldStartSeconds]),
        memoryIdleMb: idleMb.get(peer) ?? Number.NaN,
        memoryManyStreamsMb: peer.hasManyStreams ? await memoryOfManyStreams(one) : Number.NaN,
      });
      results.set(peer, { figures, windows: windowsOf(sample.measured) });
    }
    return { baseline, results };
  } finally {
    await Promise.all([...running.values()].map((one) => one.stop()));
  }
}

async function measureTargets(
  harness: Harness,
  targets: readonly Target[],
  { plan, warmUp: before, seconds }: Method,
): Promise<Map<Target, Sample>> {
  progress('warms up');
  for (const target of targets) if (target !== harness.upstream) await warmUp(harness.session, target, before);
  progress('measures in windows');
  const windows = await measureWindows(harness, targets, plan);
  progress('measures first tokens and memory');
  const samples = new Map<Target, Sample>();
  for (const [target, measured] of windows) {
    samples.set(target, { measured, alone: await measureAlone(target, seconds) });
  }
  return samples;
}

function sampleOf(samples: ReadonlyMap<Target, Sample>, target: Target): Sample {
  const sample = samples.get(target);
  if (!sample) throw new Error('a gateway was not measured');
  return sample;
}
