/** Steps that must land: what the store does not take is tried again until it does. */
import type { LedgerOutcome, LedgerStep } from '../store/store.ts';

export interface RetryQueue {
  /** Resolves once the step has landed; rejects where that takes longer than the patience, and goes on trying all the same. */
  submit(step: LedgerStep): Promise<LedgerOutcome>;
  /** Tries everything that has not landed, now; rejects where something still does not. */
  again(): Promise<void>;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

interface Late {
  step: LedgerStep;
  landed(outcome: LedgerOutcome): void;
}

/** `submit` may be called with the same step any number of times: what has landed stays as it is. */
export function createRetryQueue(submit: (step: LedgerStep) => Promise<LedgerOutcome>, patienceMs: number): RetryQueue {
  const waiting = new Set<Late>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pauseMs = FIRST_PAUSE_MS;

  async function again(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    try {
      await Promise.all([...waiting].map(tryOne));
      pauseMs = FIRST_PAUSE_MS;
    } finally {
      schedule();
    }
  }

  async function tryOne(late: Late): Promise<void> {
    const outcome = await submit(late.step);
    waiting.delete(late);
    late.landed(outcome);
  }

  function schedule(): void {
    if (waiting.size === 0 || timer) return;
    timer = setTimeout(() => again().catch(() => {}), pauseMs);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }

  /** Whoever waits is told the cause when patience is over. */
  function insist(step: LedgerStep, cause: unknown): Promise<LedgerOutcome> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(reject, patienceMs, cause);
      const landed = (outcome: LedgerOutcome) => {
        clearTimeout(late);
        resolve(outcome);
      };
      waiting.add({ step, landed });
      schedule();
    });
  }

  return {
    again,
    async submit(step) {
      try {
        return await submit(step);
      } catch (cause) {
        return insist(step, cause);
      }
    },
  };
}
