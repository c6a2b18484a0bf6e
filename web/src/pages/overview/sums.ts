/** What the figures are made of: sums of the usage report, and percentiles of a sample of calls. Pure. */
import type { CallRow, UsageGroup } from '../../api/types.ts';
import { chartValue } from '../../format/money.ts';

/** The value below which the share `p` of the values lies; undefined without values. */
export function percentile(values: readonly number[], p: number): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))];
}

const FAILURES = new Set(['failed', 'broken', 'interrupted']);

export interface Sample {
  size: number;
  errorRate: number | undefined;
  firstToken: { p50: number | undefined; p95: number | undefined };
  duration: { p50: number | undefined; p95: number | undefined };
  cacheShare: number | undefined;
}

/** Refused calls reached no provider: they count neither as calls nor as errors of the service. */
export function sampleOf(calls: readonly CallRow[]): Sample {
  const served = calls.filter(({ outcome }) => outcome !== 'refused');
  const first = served.flatMap(({ firstByteMs }) => (firstByteMs === undefined ? [] : [firstByteMs]));
  const durations = served.filter(({ outcome }) => outcome === 'ok').map(({ durationMs }) => durationMs);
  const input = total(served, 'input');
  return {
    size: calls.length,
    errorRate:
      served.length === 0 ? undefined : served.filter(({ outcome }) => FAILURES.has(outcome)).length / served.length,
    firstToken: { p50: percentile(first, 0.5), p95: percentile(first, 0.95) },
    duration: { p50: percentile(durations, 0.5), p95: percentile(durations, 0.95) },
    cacheShare: input === 0 ? undefined : total(served, 'cachedInput') / input,
  };
}

function total(calls: readonly CallRow[], member: 'input' | 'cachedInput'): number {
  return calls.reduce((sum, { usage }) => sum + (usage?.[member] ?? 0), 0);
}

export interface Bucket {
  at: number;
  spend: number;
  calls: number;
}

const HOUR = 3_600_000;

/** The groups of a report by hour or day, with zeros where nothing was. */
export function fillBuckets(
  groups: readonly UsageGroup[],
  from: number,
  to: number,
  stepMs: number,
): readonly Bucket[] {
  const byTime = new Map(groups.map((group) => [Date.parse(group.hour ?? group.day ?? group.group), group]));
  const buckets: Bucket[] = [];
  for (let at = Math.floor(from / stepMs) * stepMs; at <= to; at += stepMs) {
    const group = byTime.get(at);
    buckets.push({ at, spend: group ? chartValue(group.cost) : 0, calls: group?.calls ?? 0 });
  }
  return buckets;
}

export const STEPS = { hour: HOUR, day: 24 * HOUR } as const;

/** Median and 95th percentile of the first token by time, for the chart. */
export function latencyBuckets(
  calls: readonly CallRow[],
  parts: number,
): { times: number[]; p50: (number | null)[]; p95: (number | null)[] } {
  const timed = calls.filter(({ firstByteMs }) => firstByteMs !== undefined);
  const ats = timed.map(({ at }) => Date.parse(at));
  const [from, to] = [Math.min(...ats), Math.max(...ats)];
  if (timed.length === 0) return { times: [], p50: [], p95: [] };
  const step = Math.max(1, Math.ceil((to - from + 1) / parts));
  const groups: number[][] = Array.from({ length: parts }, () => []);
  for (const [index, { firstByteMs }] of timed.entries()) {
    groups[Math.floor(((ats[index] as number) - from) / step)]?.push(firstByteMs as number);
  }
  return {
    times: groups.map((_, at) => from + at * step),
    p50: groups.map((values) => percentile(values, 0.5) ?? null),
    p95: groups.map((values) => percentile(values, 0.95) ?? null),
  };
}
