/** What of a shared limit one process may let in while nobody counts for all. */
import type { Paced, Used } from './limits.ts';
import { WINDOW_SECONDS } from './window.ts';

/** Which of how many processes this is. */
export interface Standing {
  index: number;
  count: number;
}

/** What was used in all when it was last told, and what of it by this process. */
interface Told {
  at: number;
  all: Used;
  own: Used;
}

export interface Portions {
  /** Remembers what has been used over all processes. */
  told(id: string, all: Used, own: Used): void;
  /** The part of its limits that this process may use up. */
  of(paced: Paced, standing: Standing): Paced;
  forget(): void;
}

const TOLD_KEPT = 10_000;

/** `clock`: milliseconds, monotonic. */
export function createPortions(clock: () => number): Portions {
  const latest = new Map<string, Told>();

  function prune(now: number): void {
    for (const [id, { at }] of latest) if (now - at > WINDOW_SECONDS * 1000) latest.delete(id);
  }

  return {
    told(id, all, own) {
      const at = clock();
      const known = latest.get(id);
      if (known) Object.assign(known, { at, all, own });
      else {
        if (latest.size >= TOLD_KEPT) prune(at);
        latest.set(id, { at, all, own });
      }
    },

    of(paced, standing) {
      const known = latest.get(paced.id);
      const isFresh = known !== undefined && clock() - known.at <= WINDOW_SECONDS * 1000;
      // What is left of the minute is divided; what this process has let in of it itself stays its own as it leaves the window.
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

/** A limit divided so that the parts of all processes add up to it. */
export function portion(limit: number, { index, count }: Standing): number {
  return Math.floor(limit / count) + (index < limit % count ? 1 : 0);
}
