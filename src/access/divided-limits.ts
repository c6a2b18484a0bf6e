/** Limits of several processes on one machine that nobody counts for: each lets in its part of them. */
import type { Limits, Paced } from './limits.ts';
import { createLocalLimits } from './local-limits.ts';
import { portion, type Standing } from './portions.ts';

/** `clock`: milliseconds, monotonic. */
export function createDividedLimits(standing: Standing, clock?: () => number): Limits {
  const local = createLocalLimits(clock);
  return { ...local, admit: (ask) => local.admit(ask, (paced) => partOf(paced, standing, ask.tokens)) };
}

/**
 * The parts of all processes add up to the limit, but for those that are too small to divide: which process a client comes to is chance, and each
 * lets in one call at least, however many tokens it may need.
 */
function partOf(paced: Paced, standing: Standing, tokens: number): Paced {
  const { id, of, requestsPerMinute, tokensPerMinute, concurrency } = paced;
  const part = (limit: number) => Math.max(Math.min(limit, 1), portion(limit, standing));
  return {
    id,
    of,
    ...(requestsPerMinute !== undefined && { requestsPerMinute: part(requestsPerMinute) }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute: Math.max(portion(tokensPerMinute, standing), tokens) }),
    ...(concurrency !== undefined && { concurrency: part(concurrency) }),
  };
}
