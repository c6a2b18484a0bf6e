/** How long a call waits for its first target before a second one is called too. Pure. */
import type { Call } from '../canonical/call.ts';
import type { TimeHistogram } from './timings.ts';

/** The share of the calls of a target that answer within the delay. */
const SHARE = 0.95;
/** Fewer samples say nothing of the slowest of twenty. */
const FEWEST_SAMPLES = 20;
/** Without enough samples. */
const USUAL_STREAM_MS = 3000;
const USUAL_WHOLE_MS = 15_000;
/** A second request costs more than it gains where answers take less. */
const SHORTEST_MS = 20;

/** `firstTokens`: of the target; `wholes`: non-streaming responses of the model, which arrive when their generation has ended. */
export function hedgeDelayMs(
  { stream }: Pick<Call, 'stream'>,
  firstTokens: TimeHistogram,
  wholes: TimeHistogram,
): number {
  const times = stream ? firstTokens : wholes;
  if (times.count < FEWEST_SAMPLES) return stream ? USUAL_STREAM_MS : USUAL_WHOLE_MS;
  return Math.max(times.percentile(SHARE) ?? 0, SHORTEST_MS);
}
