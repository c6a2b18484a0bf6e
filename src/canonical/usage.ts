/** What a call consumed: one record of which every format's usage object is a view. */

/**
 * Where the figures come from: the provider's final report, the last partial one, our count of what was delivered, or our estimate of
 * the input, where nothing was delivered and the client left.
 */
export type UsageSource = 'reported' | 'partial' | 'counted' | 'estimated';

/**
 * Tokens unless said otherwise. `input` and `output` are totals: the members below them are shares of them, never beside
 * them, whatever the provider's format does. An absent member means zero.
 */
export interface Usage {
  /** All input, cached and written to the cache included. */
  input: number;
  /** Share of `input` read from a cache. */
  cachedInput?: number;
  /** Share of `input` written to a cache that lives 5 minutes (or whose life the provider does not name). */
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
  /** Images made. */
  images?: number;
  /** Images handed over to be changed. */
  inputImages?: number;
  /** Size and quality of what was made, in the words it was asked for. */
  size?: string;
  quality?: string;
  /** Videos made: each is a call. */
  videos?: number;
  /** Seconds of audio or video. */
  seconds?: number;
  /** Characters spoken or counted. */
  characters?: number;
  /** Searches that a ranking was, where its provider counts them: each is a call. */
  searches?: number;
  /** Searches and fetches the provider ran on its side. */
  serverToolCalls?: number;
  /** Share of them that its provider has no fee for (fetches). */
  freeToolCalls?: number;
  /** Where this is the sum of several upstream calls: the input of the largest, which decides by which tier they are charged. */
  largestInput?: number;
  /** Of a disputed call, whose figures here are our own: what its provider reported, and what that costs in USD. */
  claimed?: { cost: string; usage: Usage };
  source: UsageSource;
}

/**
 * One figure of a provider's report: a whole number from zero up that a JavaScript number holds exactly. Absent and `null` are zero;
 * all else (`1e999`, `-5`, `1.5`, `"12"`) is `NaN`, which makes the total it belongs to no report.
 */
export function figure(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : Number.NaN;
}

/** The gate for every provider's report: `undefined` where a total is no whole number from zero up. */
export function asReport(usage: Usage): Usage | undefined {
  return Number.isSafeInteger(usage.input) && Number.isSafeInteger(usage.output) ? usage : undefined;
}

/** Members that are not added up. */
type Word = 'source' | 'size' | 'quality' | 'largestInput' | 'claimed';
const WORDS: ReadonlySet<keyof Usage> = new Set<Word>(['source', 'size', 'quality', 'largestInput', 'claimed']);
const isCount = (member: keyof Usage): member is Exclude<keyof Usage, Word> => !WORDS.has(member);

/** The sum of two usages, as a call fanned out over several upstream calls reports it. */
export function addUsage(a: Usage, b: Usage): Usage {
  const source = a.source === b.source ? a.source : 'partial';
  const largestInput = Math.max(a.largestInput ?? a.input, b.largestInput ?? b.input);
  const sum: Usage = { ...b, ...a, source, largestInput };
  for (const member of Object.keys(sum) as (keyof Usage)[]) {
    if (isCount(member)) sum[member] = (a[member] ?? 0) + (b[member] ?? 0);
  }
  return sum;
}
