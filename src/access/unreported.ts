/** Calls admitted while Redis was away, to be reported to it: the last minute of each key and account. */
import type { LimitRequest } from './limits.ts';
import { createWindow, type Window } from './window.ts';

export interface Unreported {
  /** The returned function removes the call again: Redis has counted it after all. */
  add(ask: LimitRequest): () => void;
  all(): Iterable<[id: string, requests: number, tokens: number]>;
  clear(): void;
}

interface UnreportedWindows {
  requests: Window;
  tokens: Window;
}

/** `clock`: monotonic time in milliseconds. */
export function createUnreported(clock: () => number): Unreported {
  const counts = new Map<string, UnreportedWindows>();

  return {
    add({ paced, tokens }) {
      const now = clock();
      const added = paced.map(({ id }) => {
        const count = counts.get(id) ?? { requests: createWindow(), tokens: createWindow() };
        counts.set(id, count);
        count.requests.sum(now);
        count.tokens.sum(now);
        return { id, count, second: count.requests.add(1), tokensAt: count.tokens.add(tokens) };
      });
      return () => {
        for (const { id, count, second, tokensAt } of added) {
          // If it was reported meanwhile, it counts twice: too high is safe, too low is not.
          if (counts.get(id) !== count) continue;
          count.requests.correct(second, -1);
          count.tokens.correct(tokensAt, -tokens);
        }
      };
    },
    *all() {
      const now = clock();
      for (const [id, { requests, tokens }] of counts) {
        const made = requests.sum(now);
        if (made > 0) yield [id, made, tokens.sum(now)];
      }
    },
    clear: () => counts.clear(),
  };
}
