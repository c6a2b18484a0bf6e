/** What was let in while Redis was away, until it is told: of each key and account what the last minute holds of it. */
import type { Ask } from './limits.ts';
import { createWindow, type Window } from './window.ts';

export interface Unreported {
  /** The function takes it back: Redis has counted the call after all. */
  add(ask: Ask): () => void;
  all(): Iterable<[id: string, requests: number, tokens: number]>;
  clear(): void;
}

interface Counted {
  requests: Window;
  tokens: Window;
}

/** `clock`: milliseconds, monotonic. */
export function createUnreported(clock: () => number): Unreported {
  const counts = new Map<string, Counted>();

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
          // Told meanwhile: then it is counted twice, and never too seldom.
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
