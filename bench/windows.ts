/**
 * Measurements of gateways that run at the same time, in windows in which they take turns: figures of windows beside each other can be
 * compared on a machine whose speed changes from minute to minute.
 */
import { cpuClock } from './cpu-clock.ts';
import type { LoadReport } from './load.ts';
import { CHUNK_EVERY_MS, closedLoad, heldStreams, pacedLoad } from './loads.ts';
import type { LoadSession, Target } from './running.ts';
import { untilQuiet } from './warm-up.ts';

/** How many windows each gateway has, and how long they are. */
export interface WindowPlan {
  count: number;
  seconds: number;
  /** Of the measurement at a fixed rate, whose percentile needs some hundred answers a window. */
  pacedCount: number;
  pacedSeconds: number;
  /** Counts the chunks of streams from their opening to their end: a gateway that falls behind passes few on within a window. */
  wholeStreams?: boolean;
}

/** One window of requests. Processor time in microseconds. */
export interface RequestWindow extends LoadReport {
  /** The same load before the window. */
  leadIn: LoadReport;
  allUs: number;
  loopUs: number;
  /** Of load and upstream. */
  harnessUs: number;
}

export interface ChunkWindow {
  chunks: number;
  allUs: number;
  failures: number;
}

/** What was measured of one gateway. */
export interface Measured {
  requests: RequestWindow[];
  /** Of all threads from the first window of requests until after the last one, without what they take while nothing is asked. */
  totalUs: number;
  chunks: ChunkWindow[];
  paced: LoadReport[];
}

export interface Harness {
  session: LoadSession;
  upstream: Target;
}

/** Few streams with fast chunks, so that the cost of a chunk is not hidden by the cost of a request. */
const CHUNK_STREAMS = 40;
/**
 * A gateway that rested while the others had their turns has given memory back and takes it again: a steady load does not make it do that. At
 * the fixed rate the slowest hundredth of a window is five answers, which may all be the first ones.
 */
const LEAD_IN_SECONDS = 0.25;
const PACED_LEAD_IN_SECONDS = 1;
/** Between two windows, so that what a gateway still does for the requests before takes little from the next one. */
const PAUSE_MS = 50;
const SETTLE_MS = 2000;
const IDLE_MS = 5000;

/** The order in a round: another one begins each time, and it is reversed every second time, so that nobody always follows the same one. */
export function orderOf<Item>(items: readonly Item[], round: number): Item[] {
  const from = round % Math.max(1, items.length);
  const order = [...items.slice(from), ...items.slice(0, from)];
  return round % 2 === 0 ? order : order.reverse();
}

/** What `measure` returned for each item in each round. */
export async function inTurn<Item, Window>(
  items: readonly Item[],
  rounds: number,
  measure: (item: Item, round: number) => Promise<Window>,
): Promise<Map<Item, Window[]>> {
  const windows = new Map<Item, Window[]>(items.map((item) => [item, []]));
  for (let round = 0; round < rounds; round++) {
    for (const item of orderOf(items, round)) {
      windows.get(item)?.push(await measure(item, round));
      await Bun.sleep(PAUSE_MS);
    }
  }
  return windows;
}

export async function measureWindows<Peer extends Target>(
  harness: Harness,
  targets: readonly Peer[],
  plan: WindowPlan,
): Promise<Map<Peer, Measured>> {
  const { session } = harness;
  const quiet = () => Promise.all(targets.map(untilQuiet));
  const clocks = targets.map(({ pid }) => cpuClock(pid));
  const now = () => clocks.map((clock) => ({ at: performance.now(), ...clock() }));
  await quiet();
  const idle = now();
  await Bun.sleep(IDLE_MS);
  const start = now();
  const requests = await inTurn(targets, plan.count, (target) => requestWindow(harness, target, plan.seconds));
  await Bun.sleep(SETTLE_MS);
  const end = now();
  await quiet();
  const gateways = targets.filter((target) => target !== harness.upstream);
  const chunkWindow = plan.wholeStreams ? wholeStreams : steadyStreams;
  const chunks = await inTurn(gateways, plan.count, (target) => chunkWindow(session, target, plan.seconds));
  await quiet();
  const paced = await inTurn(targets, plan.pacedCount, async (target) => {
    const leadIn = await session.run(pacedLoad(target, PACED_LEAD_IN_SECONDS));
    const report = await session.run(pacedLoad(target, plan.pacedSeconds));
    return { ...report, failures: leadIn.failures + report.failures };
  });
  return new Map(
    targets.map((target, index) => {
      const windows = requests.get(target) ?? [];
      const busyMs = windows.reduce((sum, { seconds, leadIn }) => sum + (seconds + leadIn.seconds) * 1000, 0);
      const moments = { idle: idle[index], start: start[index], end: end[index] };
      return [
        target,
        {
          requests: windows,
          totalUs: aboveIdle(moments, busyMs),
          chunks: chunks.get(target) ?? [],
          paced: paced.get(target) ?? [],
        },
      ];
    }),
  );
}

/** The processor time that was spent until this moment. */
interface Moment {
  at: number;
  allUs: number;
}

/**
 * What a gateway spent from `start` to `end`, without what it spends while nothing is asked: that is what it spent from `idle` to `start`,
 * for as long as nothing was asked of it.
 */
export function aboveIdle(moments: Record<'idle' | 'start' | 'end', Moment | undefined>, busyMs: number): number {
  const { idle, start, end } = moments;
  if (!idle || !start || !end) return Number.NaN;
  const idleUsPerMs = (start.allUs - idle.allUs) / (start.at - idle.at);
  return end.allUs - start.allUs - idleUsPerMs * (end.at - start.at - busyMs);
}

async function requestWindow({ session, upstream }: Harness, target: Target, seconds: number): Promise<RequestWindow> {
  const leadIn = await session.run(closedLoad(target, LEAD_IN_SECONDS));
  const clock = cpuClock(target.pid);
  const harness = [cpuClock(session.pid), cpuClock(upstream.pid)];
  const harnessTime = () => harness.reduce((sum, read) => sum + read().allUs, 0);
  const before = { ...clock(), harnessUs: harnessTime() };
  const report = await session.run(closedLoad(target, seconds));
  const after = clock();
  return {
    ...report,
    leadIn,
    allUs: after.allUs - before.allUs,
    loopUs: after.loopUs - before.loopUs,
    harnessUs: harnessTime() - before.harnessUs,
  };
}

/** The streams last for a window, and these parts of one before it, in which they are opened, and after it. */
const [OPENING, CLOSING] = [0.5, 0.2];
/** A window is as long as two intervals. */
const INTERVALS = 2;

/** The end of an interval while streams are open. */
interface Mark {
  /** What the gateway spent until then. */
  allUs: number;
  /** Of this interval. */
  chunks: number;
  mostStreams: number;
}

async function steadyStreams(session: LoadSession, target: Target, seconds: number): Promise<ChunkWindow> {
  const clock = cpuClock(target.pid);
  const marks: Mark[] = [];
  const streams = heldStreams(target, CHUNK_STREAMS, CHUNK_EVERY_MS, seconds * (OPENING + 1 + CLOSING));
  const { failures } = await session.run({ ...streams, everySeconds: seconds / INTERVALS }, (interval) =>
    marks.push({ allUs: clock().allUs, chunks: interval.chunks, mostStreams: interval.mostStreams }),
  );
  return { ...chunksOf(marks, CHUNK_STREAMS), failures };
}

/** Chunks and time of the intervals after the one in which the last stream was opened: none if that never happened. */
export function chunksOf(marks: readonly Mark[], streams: number): Omit<ChunkWindow, 'failures'> {
  const opened = marks.findIndex(({ mostStreams }) => mostStreams === streams);
  const window = opened < 0 ? [] : marks.slice(opened + 1, opened + 1 + INTERVALS);
  return {
    chunks: window.reduce((sum, { chunks }) => sum + chunks, 0),
    allUs: (window.at(-1)?.allUs ?? 0) - (marks[opened]?.allUs ?? 0),
  };
}

async function wholeStreams(session: LoadSession, target: Target, seconds: number): Promise<ChunkWindow> {
  const clock = cpuClock(target.pid);
  const before = clock().allUs;
  const { chunks, failures } = await session.run(heldStreams(target, CHUNK_STREAMS, CHUNK_EVERY_MS, seconds));
  return { chunks, allUs: clock().allUs - before, failures };
}
