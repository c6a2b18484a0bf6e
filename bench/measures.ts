/** The measurements of one gateway in one round, and of the upstream alone, which are subtracted. */
import type { Load, LoadReport } from './load.ts';
import type { Peer } from './peer.ts';
import { loopMicroseconds, spentBy, treeUse } from './processes.ts';
import { type Endpoint, load, type Running, untilAnswers } from './running.ts';
import { type Pace, writeRequest } from './workload.ts';

/** All figures by name; NaN if not measured. */
export interface Figures {
  requestsPerSecond: number;
  cpuPerRequestUs: number;
  /** Of the main threads alone. */
  loopCpuPerRequestUs: number;
  cpuPerChunkUs: number;
  /** At the fixed rate, with what the upstream takes. */
  pacedP99Ms: number;
  addedP50Ms: number;
  addedP99Ms: number;
  addedFirstTokenP99Ms: number;
  memoryIdleMb: number;
  memoryStreamsMb: number;
  /** At 5,000 streams. */
  memoryManyStreamsMb: number;
  memoryAfterMb: number;
  largestProcessMb: number;
  lateFramesPercent: number;
  coldStartSeconds: number;
  /** Cores that load and upstream used while requests were sent as fast as answers came. */
  harnessCores: number;
  failures: number;
}

export interface GatewayResult {
  name: string;
  title: string;
  version: string;
  /** What it did for a request. */
  does: string;
  settings?: string | undefined;
  isOther?: boolean | undefined;
  /** Medians of all rounds. */
  figures: Figures;
  /** The least and the greatest CPU per request of the rounds. */
  spread: readonly [number, number];
  /** Each figure divided by that of the reference; absent if the reference did not run. */
  ratios?: Partial<Figures>;
}

/** The upstream without a gateway, with the same load and harness. */
export interface Baseline {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  firstTokenP99Ms: number;
  lateFramesPercent: number;
}

/** Few streams with fast chunks, so that the cost of a chunk is not hidden by the cost of a request. */
const CHUNK_STREAMS = 40;
const CHUNK_EVERY_MS = 5;
const HELD_STREAMS = 500;
const HELD_EVERY_MS = 50;
const MANY_STREAMS = 5000;
const MANY_EVERY_MS = 500;
/** Long enough that all streams are open at the same time. */
const MANY_SECONDS = 20;
const SETTLE_MS = 2000;

export async function measureBaseline(endpoint: Endpoint, seconds: number): Promise<Baseline> {
  const closed = await closedLoad(endpoint, seconds);
  const paced = await pacedLoad(endpoint, seconds);
  const streamed = await streamedLoad(endpoint, seconds);
  const held = await heldStreams(endpoint, HELD_STREAMS, HELD_EVERY_MS, seconds);
  return {
    requestsPerSecond: closed.answers / closed.seconds,
    p50Ms: paced.p50Ms,
    p99Ms: paced.p99Ms,
    firstTokenP99Ms: streamed.firstByteP99Ms,
    lateFramesPercent: latePercent(held),
  };
}

export async function measurePeer(
  peer: Running,
  seconds: number,
  baseline: Baseline,
  { hasManyStreams = false, isOther = false }: Pick<Peer, 'hasManyStreams' | 'isOther'>,
): Promise<Figures> {
  await Bun.sleep(SETTLE_MS / 2);
  const memoryIdleMb = treeUse(peer.pid).residentMb;
  await warmUp(peer, seconds, isOther ? OTHERS_WARM_UP_SECONDS : WARM_UP_SECONDS);
  const chunks = isOther ? OTHERS_WARM_UP_CHUNKS : WARM_UP_CHUNKS;
  await heldStreams(peer, WARM_UP_STREAMS, CHUNK_EVERY_MS, (chunks / WARM_UP_STREAMS) * (CHUNK_EVERY_MS / 1000));

  const requests = await withCpu(peer, () => closedLoad(peer, seconds));
  const streams = await withCpu(peer, () => heldStreams(peer, CHUNK_STREAMS, CHUNK_EVERY_MS, seconds));
  await untilAnswers(peer);
  const paced = await pacedLoad(peer, seconds);
  await untilAnswers(peer);
  const streamed = await streamedLoad(peer, seconds);

  await untilAnswers(peer);
  const memory = sampleMemory(peer);
  const held = await heldStreams(peer, HELD_STREAMS, HELD_EVERY_MS, seconds);
  const highest = memory.stop();
  await Bun.sleep(SETTLE_MS);
  const memoryAfterMb = treeUse(peer.pid).residentMb;
  const memoryManyStreamsMb = hasManyStreams ? await memoryOfMany(peer) : Number.NaN;
  return {
    requestsPerSecond: requests.report.answers / requests.report.seconds,
    cpuPerRequestUs: each(requests.microseconds, requests.report.answers),
    loopCpuPerRequestUs: each(requests.loopMicroseconds, requests.report.answers),
    cpuPerChunkUs: each(streams.microseconds, streams.report.chunks),
    pacedP99Ms: paced.p99Ms,
    addedP50Ms: paced.p50Ms - baseline.p50Ms,
    addedP99Ms: paced.p99Ms - baseline.p99Ms,
    addedFirstTokenP99Ms: streamed.firstByteP99Ms - baseline.firstTokenP99Ms,
    memoryIdleMb,
    memoryStreamsMb: highest.residentMb,
    memoryAfterMb,
    memoryManyStreamsMb,
    largestProcessMb: highest.largestMb,
    lateFramesPercent: latePercent(held),
    coldStartSeconds: peer.coldStartSeconds,
    harnessCores: requests.harnessCores,
    failures: [requests.report, streams.report, paced, streamed, held].reduce((sum, { failures }) => sum + failures, 0),
  };
}

/**
 * The warm-up ends after this many answers or this time. For about 20,000 requests the compiler uses as much processor time as the
 * requests; it is done after 50,000.
 */
const WARM_UP_ANSWERS = 60_000;
const WARM_UP_SECONDS = 20;
/** The same for chunks. */
const WARM_UP_CHUNKS = 100_000;
const WARM_UP_STREAMS = 80;
/** Python compiles nothing while it runs, and is no faster after more of them; Node's compiler is done by then. */
const OTHERS_WARM_UP_SECONDS = 10;
const OTHERS_WARM_UP_CHUNKS = 40_000;

/** The just-in-time compiler needs time; the gateway is measured after that. */
async function warmUp(peer: Running, seconds: number, boundSeconds: number): Promise<void> {
  const until = performance.now() + boundSeconds * 1000;
  for (let answers = 0; answers < WARM_UP_ANSWERS && performance.now() < until; ) {
    answers += (await closedLoad(peer, seconds)).answers;
  }
}

/** NaN if there was none: a gateway that answered nothing has no cost of an answer. */
const each = (microseconds: number, count: number): number => (count === 0 ? Number.NaN : microseconds / count);

const latePercent = ({ chunks, lateChunks }: LoadReport): number => (100 * lateChunks) / chunks;

const LATE_MS = 50;
const GRACE_SECONDS = 30;

function send(endpoint: Endpoint, shape: Load['shape'], seconds: number, pace?: Pace): Promise<LoadReport> {
  const { port, path, headers } = endpoint;
  const request = { port, path, headers, body: writeRequest(pace), shape, lateMs: LATE_MS };
  return load(request, seconds + GRACE_SECONDS);
}

const CONNECTIONS = 32;
const closedLoad = (endpoint: Endpoint, seconds: number) =>
  send(endpoint, { type: 'closed', connections: CONNECTIONS, seconds }, seconds);

const REQUESTS_PER_SECOND = 200;
const pacedLoad = (endpoint: Endpoint, seconds: number) =>
  send(endpoint, { type: 'paced', perSecond: REQUESTS_PER_SECOND, seconds }, seconds);

const STREAMS_PER_SECOND = 100;
const SHORT_STREAM: Pace = { chunks: 3, everyMs: 5 };
const streamedLoad = (endpoint: Endpoint, seconds: number) =>
  send(endpoint, { type: 'paced', perSecond: STREAMS_PER_SECOND, seconds }, seconds, SHORT_STREAM);

/** This number of concurrent streams, each as long as the requested time. */
function heldStreams(endpoint: Endpoint, streams: number, everyMs: number, seconds: number): Promise<LoadReport> {
  const pace = { chunks: Math.ceil((seconds * 1000) / everyMs), everyMs };
  return send(endpoint, { type: 'once', connections: streams, boundSeconds: seconds * 3 + 5 }, seconds * 3, pace);
}

/** Of a core, over a second: less is no leftover of the load before. */
const QUIET_SHARE = 0.1;
const QUIET_BOUND_MS = 60_000;

/** What a slow gateway still does for clients that have gone is not a cost of the next measurement. */
async function untilQuiet(peer: Running): Promise<void> {
  await untilAnswers(peer);
  for (const until = performance.now() + QUIET_BOUND_MS; performance.now() < until; ) {
    const [before, at] = [treeUse(peer.pid).cpuMicroseconds, performance.now()];
    await Bun.sleep(1000);
    if (treeUse(peer.pid).cpuMicroseconds - before < QUIET_SHARE * (performance.now() - at) * 1000) return;
  }
}

async function withCpu(peer: Running, work: () => Promise<LoadReport>) {
  await untilQuiet(peer);
  const now = () => ({
    at: performance.now(),
    peer: treeUse(peer.pid).cpuMicroseconds,
    loop: loopMicroseconds(peer.pid),
    // The load generator has ended by then.
    all: spentBy(process.pid),
  });
  const before = now();
  const report = await work();
  const after = now();
  const microseconds = after.peer - before.peer;
  return {
    report,
    microseconds,
    loopMicroseconds: after.loop - before.loop,
    harnessCores: (after.all - before.all - microseconds) / ((after.at - before.at) * 1000),
  };
}

/** NaN if streams failed, for instance where a process may not open so many files. */
async function memoryOfMany(peer: Running): Promise<number> {
  const memory = sampleMemory(peer);
  const { failures } = await heldStreams(peer, MANY_STREAMS, MANY_EVERY_MS, MANY_SECONDS);
  const { residentMb } = memory.stop();
  return failures === 0 ? residentMb : Number.NaN;
}

const SAMPLE_MS = 250;

/** Samples the highest memory until `stop`. */
function sampleMemory(peer: Running) {
  const highest = { residentMb: 0, largestMb: 0 };
  const look = () => {
    const { residentMb, largestMb } = treeUse(peer.pid);
    highest.residentMb = Math.max(highest.residentMb, residentMb);
    highest.largestMb = Math.max(highest.largestMb, largestMb);
  };
  const timer = setInterval(look, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      return highest;
    },
  };
}
