/** What a call consumed: one record of which every format's usage object is a view. */

/** Where the figures come from: the vendor's final report, the last partial one, or our count of what was delivered. */
export type UsageSource = 'reported' | 'partial' | 'counted';

/**
 * Tokens unless said otherwise. `input` and `output` are totals: the members below them are shares of them, never beside
 * them, whatever the vendor's format does. An absent member means zero.
 */
export interface Usage {
  /** All input, cached and written to the cache included. */
  input: number;
  /** Share of `input` read from a cache. */
  cachedInput?: number;
  /** Share of `input` written to a cache that lives 5 minutes (or whose life the vendor does not name). */
  cacheWrite?: number;
  /** Share of `input` written to a cache that lives an hour. */
  cacheWriteHour?: number;
  audioInput?: number;
  imageInput?: number;
  /** All output, reasoning included. */
  output: number;
  /** Share of `output` spent on reasoning. */
  reasoning?: number;
  audioOutput?: number;
  imageOutput?: number;
  acceptedPrediction?: number;
  rejectedPrediction?: number;
  /** Pictures made. */
  images?: number;
  /** Seconds of audio or video. */
  seconds?: number;
  /** Characters spoken or counted. */
  characters?: number;
  /** Searches that a ranking was, where a vendor bills by them. */
  searches?: number;
  /** Searches and fetches the vendor ran on its side. */
  serverToolCalls?: number;
  source: UsageSource;
}

/** The sum of two usages, as a call fanned out over several upstream calls reports it. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum = { ...a, source: a.source === b.source ? a.source : ('partial' as const) };
  for (const member of Object.keys(b) as (keyof Usage)[]) {
    if (member !== 'source') sum[member] = (sum[member] ?? 0) + (b[member] ?? 0);
  }
  return sum;
}
