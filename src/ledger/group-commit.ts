/** Gathers the ledger steps of concurrent calls and commits them together: one batch under way, the next one gathering. */
import { GatewayError } from '../canonical/errors.ts';
import type { LedgerOutcome, LedgerStep } from '../store/store.ts';

type MarkStep = Extract<LedgerStep, { type: 'mark' }>;

export interface GroupCommit {
  /** What became of the step, once the batch it rode in is committed; rejects where that batch failed. */
  submit(step: LedgerStep): Promise<LedgerOutcome>;
  /** A mark nobody waits for: it rides along after a pause, the newest of each call alone; one that fails is tried again. */
  note(step: MarkStep): void;
  /** Drops what was noted of a call: it has ended. */
  forget(callId: string): void;
  /** Resolves when all that was submitted and noted has been committed; rejects where a note could not be. */
  flush(): Promise<void>;
}

interface Pending {
  step: LedgerStep;
  resolve(outcome: LedgerOutcome): void;
  reject(cause: unknown): void;
}

/** A larger batch would hold up the event loop for more than some 10 ms. */
const MAX_BATCH = 512;
/** A busy stream notes a mark with every chunk: taken more often than this they cost more than a crash loses. */
const NOTE_PAUSE_MS = 250;

const isUnavailable = (cause: unknown) => cause instanceof GatewayError && cause.code === 'database_unavailable';

/** `commit` gets one batch at a time, never an empty one, and answers each step in order. */
export function createGroupCommit(commit: (steps: readonly LedgerStep[]) => Promise<LedgerOutcome[]>): GroupCommit {
  const queue: Pending[] = [];
  const notes = new Map<string, MarkStep>();
  let noteTimer: ReturnType<typeof setTimeout> | undefined;
  let scheduled = false;
  let running: Promise<void> | undefined;

  function submit(step: LedgerStep): Promise<LedgerOutcome> {
    return new Promise((resolve, reject) => {
      queue.push({ step, resolve, reject });
      if (scheduled || running) return;
      scheduled = true;
      // At the end of this turn of the event loop, so that every call the turn serves is in. Measured: waiting 2 ms longer
      // makes batches larger and calls 20 us dearer, since the process falls asleep and wakes in between.
      setImmediate(start);
    });
  }

  function start(): void {
    scheduled = false;
    if (running || queue.length === 0) return;
    running = commitBatch(queue.splice(0, MAX_BATCH)).finally(() => {
      running = undefined;
      start();
    });
  }

  async function commitBatch(batch: readonly Pending[]): Promise<void> {
    try {
      const outcomes = await commit(batch.map(({ step }) => step));
      for (const [index, outcome] of outcomes.entries()) batch[index]?.resolve(outcome);
    } catch (cause) {
      if (batch.length === 1 || isUnavailable(cause)) for (const { reject } of batch) reject(cause);
      // One step that the store cannot take is no fault of those it rode with.
      else for (const one of batch) await commitBatch([one]);
    }
  }

  function note(step: MarkStep): void {
    notes.set(step.callId, step);
    noteTimer ??= setTimeout(() => submitNotes().catch(() => {}), NOTE_PAUSE_MS);
  }

  async function submitNotes(): Promise<void> {
    clearTimeout(noteTimer);
    noteTimer = undefined;
    const steps = [...notes.values()];
    notes.clear();
    await Promise.all(steps.map(submitNote));
  }

  async function submitNote(step: MarkStep): Promise<void> {
    try {
      await submit(step);
    } catch (cause) {
      if (!notes.has(step.callId)) note(step);
      throw cause;
    }
  }

  async function flush(): Promise<void> {
    await submitNotes();
    while (running || queue.length > 0) {
      start();
      await running;
    }
  }

  return { submit, note, forget: (callId) => void notes.delete(callId), flush };
}
