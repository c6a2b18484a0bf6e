/** The usage of a call. The usage objects of all formats are derived from it. */

/**
 * The source of the figures: the provider's final report, its last partial report, the gateway's count of delivered output, its estimate
 * of the input after the client disconnected without output, or the earlier call whose stored reply was given again.
 */
export type UsageSource = 'reported' | 'partial' | 'counted' | 'estimated' | 'cached';

/**
 * In tokens unless stated otherwise. `input` and `output` are totals that include the members below them, whatever the provider's format
 * does. An absent member is zero.
 */
export interface Usage {
  /** All input, including cached tokens and tokens written to the cache. */
  input: number;
  /** The part of `input` read from a cache. */
  cachedInput?: number;
  /** The part of `input` written to a cache of 5 minutes (or of unknown duration). */
  cacheWrite?: number;
  /** The part of `input` written to a cache of one hour. */
  cacheWriteHour?: number;
  audioInput?: number;
  imageInput?: number;
  /** All output, reasoning included. */
  output: number;
  /** The part of `output` used for reasoning. */
  reasoning?: number;
  audioOutput?: number;
  imageOutput?: number;
  acceptedPrediction?: number;
  rejectedPrediction?: number;
  /** Generated images. */
  images?: number;
  /** Input images that were edited. */
  inputImages?: number;
  /** Size and quality of the result, as requested. */
  size?: string;
  quality?: string;
  /** Generated videos; each counts as a call. */
  videos?: number;
  /** Seconds of audio or video. */
  seconds?: number;
  /** Characters of speech or text. */
  characters?: number;
  /** Searches of a reranking call, if its provider counts them; each counts as a call. */
  searches?: number;
  /** Tool calls (searches, fetches) that the provider ran. */
  serverToolCalls?: number;
  /** The part of them without a fee (fetches). */
  freeToolCalls?: number;
  /** For the sum of several upstream calls: the largest input, which selects the price tier. */
  largestInput?: number;
  /** For a disputed call, whose figures are the gateway's own: what the provider reported and its cost in USD. */
  claimed?: { cost: string; usage: Usage };
  /** The usage of the slower target of a hedged call (`hedge: on`), and its cost in USD. Charged with the call. */
  hedge?: { provider: string; targetModel: string; cost: string; usage: Usage };
  source: UsageSource;
}

/**
 * Reads one figure of a provider's report: a non-negative integer that a JavaScript number holds exactly. Absent and `null` are zero.
 * Anything else (`1e999`, `-5`, `1.5`, `"12"`) is `NaN`, which makes the report invalid.
 */
export function figure(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : Number.NaN;
}

/** Validates a provider's report: `undefined` if a total is not a non-negative integer. */
export function asReport(usage: Usage): Usage | undefined {
  return Number.isSafeInteger(usage.input) && Number.isSafeInteger(usage.output) ? usage : undefined;
}

/** Members that are not added up. */
type Word = 'source' | 'size' | 'quality' | 'largestInput' | 'claimed' | 'hedge';
const WORDS: ReadonlySet<keyof Usage> = new Set<Word>([
  'source',
  'size',
  'quality',
  'largestInput',
  'claimed',
  'hedge',
]);
const isCount = (member: keyof Usage): member is Exclude<keyof Usage, Word> => !WORDS.has(member);

/** Adds the usages of several upstream calls. */
export function addUsage(a: Usage, b: Usage): Usage {
  const source = a.source === b.source ? a.source : 'partial';
  const largestInput = Math.max(a.largestInput ?? a.input, b.largestInput ?? b.input);
  const sum: Usage = { ...b, ...a, source, largestInput };
  for (const member of Object.keys(sum) as (keyof Usage)[]) {
    if (isCount(member)) sum[member] = (a[member] ?? 0) + (b[member] ?? 0);
  }
  return sum;
}
