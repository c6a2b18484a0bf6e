/** The part of a shared limit that one process may admit while Redis is not available. */
import type { Paced, Used } from './limits.ts';
import { WINDOW_SECONDS } from './window.ts';

/** The index of this process and the number of processes. */
export interface ProcessPosition {
  index: number;
  count: number;
}

/** Usage when the shared counters were last read: of all processes, and of this one. */
interface CountedUsage {
  at: number;
  all: Used;
  own: Used;
}

export interface Portions {
  /** Stores the usage of all processes and of this one. */
  counted(id: string, all: Used, own: Used): void;
  /** The part of the limits that this process may use. */
  of(paced: Paced, standing: ProcessPosition): Paced;
  forget(): void;
}

const MOST_KEPT = 10_000;

/** `clock`: monotonic time in milliseconds. */
export function createPortions(clock: () => number): Portions {
  const latest = new Map<string, CountedUsage>();

  function prune(now: number): void {
    for (const [id, { at }] of latest) if (now - at > WINDOW_SECONDS * 1000) latest.delete(id);
  }

  return {
    counted(id, all, own) {
      const at = clock();
      const known = latest.get(id);
      if (known) Object.assign(known, { at, all, own });
      else {
        if (latest.size >= MOST_KEPT) prune(at);
        latest.set(id, { at, all, own });
      }
    },

    of(paced, standing) {
      const known = latest.get(paced.id);
      const isFresh = known !== undefined && clock() - known.at <= WINDOW_SECONDS * 1000;
      // What is left of the minute is divided. Calls that this process itself admitted are returned to its own part as they leave the
      // window.
      const part = (limit: number, member: keyof Used) =>
        isFresh
          ? known.own[member] + portion(Math.max(0, limit - known.all[member]), standing)
          : portion(limit, standing);
      const { id, of, requestsPerMinute, tokensPerMinute, concurrency } = paced;
      return {
        id,
        of,
        ...(requestsPerMinute !== undefined && { requestsPerMinute: part(requestsPerMinute, 'requests') }),
        ...(tokensPerMinute !== undefined && { tokensPerMinute: part(tokensPerMinute, 'tokens') }),
        ...(concurrency !== undefined && { concurrency: part(concurrency, 'active') }),
      };
    },

    forget: () => latest.clear(),
  };
}

/** Divides a limit so that the parts of all processes add up to it. */
export function portion(limit: number, { index, count }: ProcessPosition): number {
  return Math.floor(limit / count) + (index < limit % count ? 1 : 0);
}
