/**
 * Commits the ledger steps of concurrent calls in batches: one batch runs while the next is collected. Accounts that another process has
 * locked wait in a batch of their own, so that they do not delay others.
 */
import { GatewayError } from '../canonical/errors.ts';
import { accountOfStep } from '../store/ledger/step-account.ts';
import { databaseUnavailable } from '../store/readiness.ts';
import type { LedgerOutcome, LedgerStep } from '../store/rows.ts';

type LedgerMark = Extract<LedgerStep, { type: 'mark' }>;

/** A step and the callbacks for its end. `done` and `failed` do not throw, because they are called for one step of a batch after the other. */
export interface PendingStep {
  readonly step: LedgerStep;
  /** The batch is committed. */
  done(outcome: LedgerOutcome): void;
  /** The batch failed. */
  failed(cause: unknown): void;
  /** When the account was first found locked. Set by the group commit. */
  busySince?: number;
}

/** Collects ledger steps and commits them together. */
export interface GroupCommit {
  /** Resolves with the outcome of the step when its batch is committed. Rejects if the batch failed. */
  submit(step: LedgerStep): Promise<LedgerOutcome>;
  /** The same without a promise: the steps of every call go this way. */
  add(pending: PendingStep): void;
  /** Records a checkpoint without waiting: after a pause only the newest of each call is written. Failures are retried. */
  note(step: LedgerMark): void;
  /** Drops the checkpoint of a call that has ended. */
  forget(callId: string): void;
  /** Resolves when everything submitted and noted is committed. Rejects if a checkpoint could not be written. */
  flush(): Promise<void>;
}

/** Returns the outcomes in order. Without `waits`, steps of locked accounts return `busy` and are not done. */
export type Commit = (steps: readonly LedgerStep[], waits: boolean) => Promise<LedgerOutcome[]>;

/** A larger batch would block the event loop for more than about 10 ms. */
const MAX_BATCH = 512;
/** A stream notes a checkpoint with every chunk. Written more often than this, they cost more than a crash would lose. */
const NOTE_PAUSE_MS = 250;
/** After an account was found locked, this number of its batches wait for the lock directly: Postgres grants it in the order of waiting. */
const WAITED_FOR = 16;
/** If all batches that may wait do so, the account is tried again after this pause. */
const BUSY_PAUSE_MS = 20;
const BUSY_FOR_MS = 15_000;

const NO_ACCOUNTS: ReadonlySet<string> = new Set();

const isUnavailable = (cause: unknown) => cause instanceof GatewayError && cause.code === 'database_unavailable';

/** `atOnce`: batches of different accounts that may run at the same time; all but one of them may wait for a lock. */
export function createGroupCommit(commit: Commit, atOnce = 1): GroupCommit {
  let queue: PendingStep[] = [];
  const notes = new Map<string, LedgerMark>();
  /** Accounts of running batches. */
  const taken = new Set<string>();
  /** Accounts that were found locked, and how many of their batches still wait directly. */
  const contended = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  let noteTimer: ReturnType<typeof setTimeout> | undefined;
  let scheduled = false;
  let isCommitting = false;
  let waiting = 0;

  function submit(step: LedgerStep): Promise<LedgerOutcome> {
    return new Promise((done, failed) => add({ step, done, failed }));
  }

  function add(pending: PendingStep): void {
    queue.push(pending);
    if (scheduled || (isCommitting && waiting === 0 && contended.size === 0)) return;
    scheduled = true;
    // At the end of this turn of the event loop, so that the batch has the steps of all calls in it. Measured: waiting 2 ms longer makes
    // batches larger but costs 20 µs more per call, because the process sleeps and wakes in between.
    setImmediate(start);
  }

  function start(): void {
    scheduled = false;
    if (contended.size > 0) startWaiting();
    if (isCommitting || queue.length === 0) return;
    const batch = taken.size === 0 ? queue.splice(0, MAX_BATCH) : takeFrom((account) => !taken.has(account));
    if (batch.length === 0) return;
    isCommitting = true;
    run(batch, atOnce === 1, () => {
      isCommitting = false;
    });
  }

  /** Accounts that others have locked get batches of their own, as many as may wait. */
  function startWaiting(): void {
    for (const { step } of queue) {
      if (waiting >= atOnce - 1) return;
      const account = accountOfStep(step);
      const left = account === undefined ? undefined : contended.get(account);
      if (account === undefined || left === undefined || taken.has(account)) continue;
      if (left > 1) contended.set(account, left - 1);
      else contended.delete(account);
      waitFor(takeFrom((one) => one === account));
    }
  }

  function waitFor(batch: readonly PendingStep[]): void {
    waiting++;
    run(batch, true, () => {
      waiting--;
    });
  }

  /** Steps of one account stay in order. */
  function takeFrom(isWanted: (account: string) => boolean): PendingStep[] {
    const batch: PendingStep[] = [];
    const rest: PendingStep[] = [];
    for (const pending of queue) {
      const account = accountOfStep(pending.step);
      const isIn = batch.length < MAX_BATCH && (account === undefined ? isWanted('') : isWanted(account));
      (isIn ? batch : rest).push(pending);
    }
    queue = rest;
    return batch;
  }

  function run(batch: readonly PendingStep[], waits: boolean, ended: () => void): void {
    // One batch at a time shares its accounts with no other.
    const accounts = atOnce === 1 ? NO_ACCOUNTS : accountsOf(batch);
    for (const account of accounts) taken.add(account);
    const running = commitBatch(batch, waits).then((busy) => {
      underWay.delete(running);
      ended();
      for (const account of accounts) taken.delete(account);
      if (busy.length > 0) putOff(busy);
      start();
    });
    underWay.add(running);
  }

  /** Returns the steps whose accounts are locked. */
  async function commitBatch(batch: readonly PendingStep[], waits: boolean): Promise<PendingStep[]> {
    const busy: PendingStep[] = [];
    try {
      const outcomes = await commit(
        batch.map(({ step }) => step),
        waits,
      );
      for (let index = 0; index < outcomes.length; index++) {
        const outcome = outcomes[index]!;
        const pending = batch[index]!;
        if (outcome.type === 'busy') busy.push(pending);
        else pending.done(outcome);
      }
    } catch (cause) {
      if (batch.length === 1 || isUnavailable(cause)) for (const pending of batch) pending.failed(cause);
      // A step that the store refuses must not fail the others in its batch.
      else for (const one of batch) busy.push(...(await commitBatch([one], waits)));
    }
    return busy;
  }

  function putOff(busy: readonly PendingStep[]): void {
    const now = performance.now();
    const kept: PendingStep[] = [];
    for (const pending of busy) {
      pending.busySince ??= now;
      const account = accountOfStep(pending.step);
      if (now - pending.busySince > BUSY_FOR_MS) {
        pending.failed(databaseUnavailable(new Error(`Account ${account} has been locked for ${BUSY_FOR_MS} ms.`)));
      } else kept.push(pending);
      if (account !== undefined) contended.set(account, WAITED_FOR);
    }
    queue = [...kept, ...queue];
    if (waiting < atOnce - 1) return;
    // Other steps of these accounts already wait, so they are not tried repeatedly meanwhile.
    const accounts = new Set(kept.map(({ step }) => accountOfStep(step) ?? ''));
    for (const account of accounts) taken.add(account);
    const pause = Bun.sleep(BUSY_PAUSE_MS).then(() => {
      underWay.delete(pause);
      for (const account of accounts) taken.delete(account);
      start();
    });
    underWay.add(pause);
  }

  function note(step: LedgerMark): void {
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

  async function submitNote(step: LedgerMark): Promise<void> {
    try {
      await submit(step);
    } catch (cause) {
      if (!notes.has(step.callId)) note(step);
      throw cause;
    }
  }

  async function flush(): Promise<void> {
    await submitNotes();
    while (underWay.size > 0 || queue.length > 0) {
      start();
      await Promise.race(underWay);
    }
  }

  return { submit, add, note, forget: (callId) => void notes.delete(callId), flush };
}

function accountsOf(batch: readonly PendingStep[]): ReadonlySet<string> {
  const accounts = new Set<string>();
  for (const { step } of batch) {
    const account = accountOfStep(step);
    if (account !== undefined) accounts.add(account);
  }
  return accounts;
}
