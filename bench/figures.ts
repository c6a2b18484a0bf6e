/** What the benchmark tells of a gateway, and how it follows from what was measured. Pure functions. */
import type { Alone } from './alone.ts';
import type { LoadReport } from './load.ts';
import { median } from './statistics.ts';
import type { Measured } from './windows.ts';

/** All figures by name; NaN if not measured. */
export interface Figures {
  requestsPerSecond: number;
  /** Of all threads while requests are answered. */
  cpuPerRequestUs: number;
  /** Of the main threads alone. */
  loopCpuPerRequestUs: number;
  /** With what runs between the windows: what a request costs in the end. */
  totalCpuPerRequestUs: number;
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

/** The figures that are medians of windows in which the gateways take turns. */
export type WindowFigure =
  | 'requestsPerSecond'
  | 'cpuPerRequestUs'
  | 'loopCpuPerRequestUs'
  | 'cpuPerChunkUs'
  | 'pacedP99Ms';

/** The figure of each window. */
export type Windows = Readonly<Record<WindowFigure, readonly number[]>>;

export interface GatewayResult {
  name: string;
  title: string;
  version: string;
  /** What it did for a request. */
  does: string;
  settings?: string | undefined;
  isOther?: boolean | undefined;
  figures: Figures;
  windows: Windows;
  /** Each figure beside that of the reference; absent if the reference did not run. */
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

/** NaN if there was none: a gateway that answered nothing has no cost of an answer. */
const each = (microseconds: number, count: number): number => (count === 0 ? Number.NaN : microseconds / count);

export const windowsOf = ({ requests, chunks, paced }: Measured): Windows => ({
  requestsPerSecond: requests.map(({ answers, seconds }) => answers / seconds),
  cpuPerRequestUs: requests.map(({ allUs, answers }) => each(allUs, answers)),
  loopCpuPerRequestUs: requests.map(({ loopUs, answers }) => each(loopUs, answers)),
  cpuPerChunkUs: chunks.map((window) => each(window.allUs, window.chunks)),
  pacedP99Ms: paced.map(({ p99Ms }) => p99Ms),
});

const latePercent = ({ chunks, lateChunks }: LoadReport): number => (100 * lateChunks) / chunks;

/** What was measured of one gateway, with the others and alone. */
export interface Sample {
  measured: Measured;
  alone: Alone;
}

export const baselineOf = ({ measured: { requests, paced }, alone: { streamed, held } }: Sample): Baseline => ({
  requestsPerSecond: median(requests.map(({ answers, seconds }) => answers / seconds)),
  p50Ms: median(paced.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(paced.map(({ p99Ms }) => p99Ms)),
  firstTokenP99Ms: streamed.firstByteP99Ms,
  lateFramesPercent: latePercent(held),
});

export function figuresOf(
  { measured, alone }: Sample,
  baseline: Baseline,
  others: Pick<Figures, 'coldStartSeconds' | 'memoryIdleMb' | 'memoryManyStreamsMb'>,
): Figures {
  const windows = windowsOf(measured);
  const { requests, chunks, paced } = measured;
  const answers = requests.reduce((sum, window) => sum + window.answers + window.leadIn.answers, 0);
  const pacedP99Ms = median(windows.pacedP99Ms);
  const { streamed, held } = alone;
  const all = [...requests, ...requests.map(({ leadIn }) => leadIn), ...chunks, ...paced, streamed, held];
  return {
    requestsPerSecond: median(windows.requestsPerSecond),
    cpuPerRequestUs: median(windows.cpuPerRequestUs),
    loopCpuPerRequestUs: median(windows.loopCpuPerRequestUs),
    totalCpuPerRequestUs: each(measured.totalUs, answers),
    cpuPerChunkUs: median(windows.cpuPerChunkUs),
    pacedP99Ms,
    addedP50Ms: median(paced.map(({ p50Ms }) => p50Ms)) - baseline.p50Ms,
    addedP99Ms: pacedP99Ms - baseline.p99Ms,
    addedFirstTokenP99Ms: streamed.firstByteP99Ms - baseline.firstTokenP99Ms,
    ...others,
    memoryStreamsMb: alone.memoryStreamsMb,
    memoryAfterMb: alone.memoryAfterMb,
    largestProcessMb: alone.largestProcessMb,
    lateFramesPercent: latePercent(held),
    harnessCores: median(requests.map(({ harnessUs, seconds }) => harnessUs / 1e6 / seconds)),
    failures: all.reduce((sum, { failures }) => sum + failures, 0),
  };
}
