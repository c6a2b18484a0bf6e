/** Steps that must be committed: they are retried until the store accepts them. */
import type { LedgerOutcome, LedgerStep } from '../store/rows.ts';

/** A step that the store did not accept. */
export interface LateStep {
  readonly step: LedgerStep;
  /** It is committed. */
  done(outcome: LedgerOutcome): void;
  /** It is not, after the time limit. The retries continue. */
  expired(cause: unknown): void;
}

/** Keeps steps in memory until they are committed, with pauses from 50 ms to 1 s. */
export interface RetryQueue {
  /** Retries a step that failed for this reason. */
  insist(late: LateStep, cause: unknown): void;
  /** Retries everything that is not committed, now. Rejects if something still fails. */
  again(): Promise<void>;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

interface WaitingStep {
  readonly late: LateStep;
  readonly limit: ReturnType<typeof setTimeout>;
}

/** `submit` may be called with the same step repeatedly: a committed step has no further effect. */
export function createRetryQueue(submit: (step: LedgerStep) => Promise<LedgerOutcome>, patienceMs: number): RetryQueue {
  const waiting = new Set<WaitingStep>();
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

  async function tryOne(one: WaitingStep): Promise<void> {
    const outcome = await submit(one.late.step);
    waiting.delete(one);
    clearTimeout(one.limit);
    one.late.done(outcome);
  }

  function schedule(): void {
    if (waiting.size === 0 || timer) return;
    timer = setTimeout(() => again().catch(() => {}), pauseMs);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }

  function insist(late: LateStep, cause: unknown): void {
    waiting.add({ late, limit: setTimeout(() => late.expired(cause), patienceMs) });
    schedule();
  }

  return { insist, again };
}
