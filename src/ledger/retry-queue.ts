/** Steps that must be committed: they are retried until the store accepts them. */
import type { LedgerOutcome, LedgerStep } from '../store/store.ts';

export interface RetryQueue {
  /** Resolves when the step is committed. Rejects if that takes longer than the time limit; the retries continue. */
  submit(step: LedgerStep): Promise<LedgerOutcome>;
  /** Retries everything that is not committed, now. Rejects if something still fails. */
  again(): Promise<void>;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

interface Late {
  step: LedgerStep;
  landed(outcome: LedgerOutcome): void;
}

/** `submit` may be called with the same step repeatedly: a committed step has no further effect. */
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

  /** After the time limit the caller gets the cause. */
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
