/** How long an attempt may take to begin its answer while another target is free. Pure. */
import type { Call } from '../canonical/call.ts';
import type { TimeHistogram } from './timings.ts';

/** Without enough samples, and at most for streams. */
const LONGEST_MS = 30_000;
const SHORTEST_MS = 5000;
/** Fewer samples say nothing of the slowest of a hundred. */
const FEWEST_SAMPLES = 20;
/** A non-streaming response takes as long as its generation: a few samples are enough. */
const FEWEST_WHOLE_SAMPLES = 3;

/**
 * Milliseconds from sending until the first token of a stream, or until the headers of a whole response; `undefined`: only the general
 * limits. `set`: the limit of the model. Twice what 99 of 100 took, from 5 to 30 seconds. Whole responses may take longer where those
 * of this model did. Images, audio and videos are not limited: providers make them in minutes, and another attempt costs as much again.
 */
export function answerLimitMs(
  call: Call,
  set: number | undefined,
  firstTokens: TimeHistogram,
  wholes: TimeHistogram,
): number | undefined {
  if (set !== undefined) return set;
  switch (call.kind) {
    case 'chat':
    case 'embed':
    case 'rerank':
    case 'moderation':
      break;
    default:
      return undefined;
  }
  if (call.stream) {
    if (firstTokens.count < FEWEST_SAMPLES) return LONGEST_MS;
    return Math.min(Math.max(2 * (firstTokens.percentile(0.99) ?? 0), SHORTEST_MS), LONGEST_MS);
  }
  if (wholes.count < FEWEST_WHOLE_SAMPLES) return LONGEST_MS;
  return Math.max(2 * (wholes.percentile(0.99) ?? 0), LONGEST_MS);
}
