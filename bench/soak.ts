/** `npm run bench -- --soak MINUTES`: a steady load on one gateway for a long time. Memory must not grow, no chunk may be late, no call fail. */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Load, LoadReport } from './load.ts';
import { machineNow, otherCores } from './machine.ts';
import type { Peer } from './peer.ts';
import { treeUse } from './processes.ts';
import { load, type Running, startPeer, startUpstream, watchLoad } from './running.ts';
import { median } from './statistics.ts';
import { type Pace, writeRequest } from './workload.ts';

/** What was measured in one interval. */
export interface SoakInterval {
  /** Since the begin of the soak. */
  atSeconds: number;
  /** The median of the interval. */
  memoryMb: number;
  calls: number;
  p50Ms: number;
  p99Ms: number;
  streams: number;
  chunks: number;
  lateChunks: number;
  failures: number;
  /** Cores that the gateway used, and other programs. */
  gatewayCores: number;
  otherCores: number;
  /** The load average of the last minute. */
  load: number;
}

const INTERVAL_SECONDS = 30;
/** A short soak still has enough intervals to compare. */
const LEAST_INTERVALS = 8;
const CALLS_PER_SECOND = 200;
const STREAMS = 500;
const STREAM: Pace = { chunks: 200, everyMs: 50 };
const LATE_MS = 50;
const WARM_UP_SECONDS = 10;
const WARM_UP_CONNECTIONS = 32;
const GRACE_SECONDS = 60;
const SAMPLE_MS = 1000;

/** Prints a line for each interval and a verdict. Resolves with what was wrong, one sentence each. */
export async function runSoak(peer: Peer, minutes: number, print: (line: string) => void): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-soak-'));
  const upstream = await startUpstream();
  try {
    const running = await startPeer(peer, upstream.port, join(folder, peer.name));
    try {
      print(
        `${peer.title} ${await peer.version()}: ${CALLS_PER_SECOND} calls a second and ${STREAMS} streams, ${minutes} minutes`,
      );
      const intervals = await measure(running, minutes * 60, print);
      print(summary(intervals));
      return faultsOf(intervals);
    } finally {
      await running.stop();
    }
  } finally {
    await upstream.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(peer: Running, seconds: number, print: (line: string) => void): Promise<SoakInterval[]> {
  const everySeconds = Math.min(INTERVAL_SECONDS, seconds / LEAST_INTERVALS);
  const request = (shape: Load['shape'], pace?: Pace) => ({
    port: peer.port,
    headers: peer.headers,
    path: peer.path,
    body: writeRequest(pace),
    shape,
    lateMs: LATE_MS,
    everySeconds,
  });
  const warmUp = { type: 'closed', connections: WARM_UP_CONNECTIONS, seconds: WARM_UP_SECONDS } as const;
  const { everySeconds: _, ...once } = request(warmUp);
  await load(once, WARM_UP_SECONDS + GRACE_SECONDS);

  const intervals: SoakInterval[] = [];
  const calls: LoadReport[] = [];
  const streams: LoadReport[] = [];
  const sampler = sampleGateway(peer);
  const arrived = () => {
    const [call, stream] = [calls[0], streams[0]];
    if (!call || !stream) return;
    calls.shift();
    streams.shift();
    const interval = { ...joined(call, stream), ...sampler.next(), atSeconds: (intervals.length + 1) * everySeconds };
    intervals.push(interval);
    print(line(interval));
  };
  const watch = (shape: Load['shape'], into: LoadReport[], pace?: Pace) =>
    watchLoad(request(shape, pace), seconds + GRACE_SECONDS, (report) => {
      // What is left after the last whole interval is short, and its streams are cut off.
      if (report.seconds < everySeconds / 2) return;
      into.push(report);
      arrived();
    });
  const spreadSeconds = (STREAM.chunks * STREAM.everyMs) / 1000;
  print(HEAD);
  try {
    await Promise.all([
      watch({ type: 'paced', perSecond: CALLS_PER_SECOND, seconds }, calls),
      watch({ type: 'closed', connections: STREAMS, seconds, spreadSeconds }, streams, STREAM),
    ]);
  } finally {
    sampler.stop();
  }
  return intervals;
}

function joined(call: LoadReport, stream: LoadReport) {
  return {
    calls: call.answers,
    p50Ms: call.p50Ms,
    p99Ms: call.p99Ms,
    streams: stream.answers,
    chunks: stream.chunks,
    lateChunks: stream.lateChunks,
    failures: call.failures + stream.failures,
  };
}

function sampleGateway(peer: Running) {
  let samples: number[] = [];
  let machine = machineNow();
  let cpu = treeUse(peer.pid).cpuMicroseconds;
  const timer = setInterval(() => samples.push(treeUse(peer.pid).residentMb), SAMPLE_MS);
  return {
    /** What was seen since the last call. */
    next() {
      const [now, use] = [machineNow(), treeUse(peer.pid)];
      const seen = {
        memoryMb: median([...samples, use.residentMb]),
        gatewayCores: (use.cpuMicroseconds - cpu) / ((now.at - machine.at) * 1000),
        otherCores: otherCores(machine, now),
        load: loadavg()[0] ?? Number.NaN,
      };
      [samples, machine, cpu] = [[], now, use.cpuMicroseconds];
      return seen;
    },
    stop: () => clearInterval(timer),
  };
}

const COLUMNS: readonly [title: string, value: (interval: SoakInterval) => string][] = [
  ['at, s', ({ atSeconds }) => atSeconds.toFixed(0)],
  ['memory, MB', ({ memoryMb }) => memoryMb.toFixed(1)],
  ['calls', ({ calls }) => String(calls)],
  ['p50, ms', ({ p50Ms }) => p50Ms.toFixed(2)],
  ['p99, ms', ({ p99Ms }) => p99Ms.toFixed(2)],
  ['streams', ({ streams }) => String(streams)],
  ['chunks', ({ chunks }) => String(chunks)],
  ['late', ({ lateChunks }) => String(lateChunks)],
  ['failed', ({ failures }) => String(failures)],
  ['gateway, cores', ({ gatewayCores }) => gatewayCores.toFixed(2)],
  ['others, cores', (interval) => interval.otherCores.toFixed(2)],
  ['load average', (interval) => interval.load.toFixed(2)],
];
const LEAST_WIDTH = 8;
const width = (title: string) => Math.max(LEAST_WIDTH, title.length);
const HEAD = COLUMNS.map(([title]) => title.padStart(width(title))).join('  ');
const line = (interval: SoakInterval) =>
  COLUMNS.map(([title, value]) => value(interval).padStart(width(title))).join('  ');

/** The parts of a soak that are compared: the first quarter is the warm-up of memory. */
function quarters(intervals: readonly SoakInterval[]) {
  const size = Math.max(1, Math.floor(intervals.length / 4));
  return { second: intervals.slice(size, 2 * size), last: intervals.slice(-size) };
}

const memoryOf = (intervals: readonly SoakInterval[]) => median(intervals.map(({ memoryMb }) => memoryMb));
const sumOf = (intervals: readonly SoakInterval[], figure: 'failures' | 'chunks' | 'lateChunks') =>
  intervals.reduce((sum, interval) => sum + interval[figure], 0);

export function summary(intervals: readonly SoakInterval[]): string {
  const { second, last } = quarters(intervals);
  const p99 = intervals.map(({ p99Ms }) => p99Ms);
  return (
    `memory ${memoryOf(second).toFixed(1)} MB in the second quarter, ${memoryOf(last).toFixed(1)} MB in the last; ` +
    `p99 ${Math.min(...p99).toFixed(2)} to ${Math.max(...p99).toFixed(2)} ms, median ${median(p99).toFixed(2)} ms; ` +
    `${sumOf(intervals, 'lateChunks')} of ${sumOf(intervals, 'chunks')} chunks late; ${sumOf(intervals, 'failures')} failures`
  );
}

/** More growth from the second to the last quarter of a soak is a leak: the collector alone moves memory by a few hundredths. */
const MOST_GROWTH = 0.1;

/** What a soak must not show, one sentence each. */
export function faultsOf(intervals: readonly SoakInterval[]): string[] {
  if (intervals.length < 4) return ['The soak ended before it had four intervals.'];
  const faults: string[] = [];
  const { second, last } = quarters(intervals);
  const [before, after] = [memoryOf(second), memoryOf(last)];
  if (after > before * (1 + MOST_GROWTH)) {
    faults.push(`Memory grew from ${before.toFixed(1)} to ${after.toFixed(1)} MB from the second to the last quarter.`);
  }
  const late = sumOf(intervals, 'lateChunks');
  if (late > 0)
    faults.push(
      `${late} of ${sumOf(intervals, 'chunks')} chunks arrived more than ${LATE_MS} ms after they were sent.`,
    );
  const failures = sumOf(intervals, 'failures');
  if (failures > 0) faults.push(`${failures} requests failed.`);
  return faults;
}
