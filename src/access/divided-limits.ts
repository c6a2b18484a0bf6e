/** Limits of several processes on one machine without Redis: each process enforces its part of every limit. */
import type { LimitRequest, Limits, Paced } from './limits.ts';
import { createLocalLimits } from './local-limits.ts';
import { type ProcessPosition, portion } from './portions.ts';

/** `clock`: monotonic time in milliseconds. */
export function createDividedLimits(standing: ProcessPosition, clock?: () => number): Limits {
  const local = createLocalLimits(clock);
  const partFor =
    ({ tokens }: LimitRequest) =>
    (paced: Paced) =>
      partOf(paced, standing, tokens);
  return {
    ...local,
    admit: (ask) => local.admit(ask, partFor(ask)),
    look: (ask) => local.look(ask, partFor(ask)),
  };
}

/**
 * The parts of all processes add up to the limit, except for limits that are too small to divide. The operating system chooses the process
 * of a connection, so each process admits at least one call, whatever tokens it needs.
 */
function partOf(paced: Paced, standing: ProcessPosition, tokens: number): Paced {
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
