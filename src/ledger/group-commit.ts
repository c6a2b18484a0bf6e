/** Gathers the ledger steps of concurrent calls and commits them together: one batch under way, the next one gathering. An account that
 *  another process has locked is waited for in a batch of its own: it holds up nobody else. */
import { GatewayError } from '../canonical/errors.ts';
import { accountOfStep } from '../store/step-account.ts';
import type { LedgerOutcome, LedgerStep } from '../store/store.ts';
import { databaseUnavailable } from '../store/unavailable.ts';

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

/** Answers each step in order. Where it is told not to wait, steps of accounts that are locked are answered with `busy`, and not done. */
export type Commit = (steps: readonly LedgerStep[], waits: boolean) => Promise<LedgerOutcome[]>;

interface Pending {
  step: LedgerStep;
  resolve(outcome: LedgerOutcome): void;
  reject(cause: unknown): void;
  /** When its account was first found locked. */
  busySince?: number;
}

/** A larger batch would hold up the event loop for more than some 10 ms. */
const MAX_BATCH = 512;
/** A busy stream notes a mark with every chunk: taken more often than this they cost more than a crash loses. */
const NOTE_PAUSE_MS = 250;
/** An account that was found locked is waited for straight away so many times: its lock is passed on in the order of those who wait. */
const WAITED_FOR = 16;
/** Where all batches that may wait do so, the account is looked at again after a pause. */
const BUSY_PAUSE_MS = 20;
const BUSY_FOR_MS = 15_000;

const isUnavailable = (cause: unknown) => cause instanceof GatewayError && cause.code === 'database_unavailable';

/** `atOnce`: batches that may be under way at the same time, of different accounts; all but one of them may wait for a lock. */
export function createGroupCommit(commit: Commit, atOnce = 1): GroupCommit {
  let queue: Pending[] = [];
  const notes = new Map<string, MarkStep>();
  /** The accounts of batches under way. */
  const taken = new Set<string>();
  /** Accounts that were found locked, and how often they are still waited for. */
  const contended = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  let noteTimer: ReturnType<typeof setTimeout> | undefined;
  let scheduled = false;
  let isCommitting = false;
  let waiting = 0;

  function submit(step: LedgerStep): Promise<LedgerOutcome> {
    return new Promise((resolve, reject) => {
      queue.push({ step, resolve, reject });
      if (scheduled || (isCommitting && waiting === 0 && contended.size === 0)) return;
      scheduled = true;
      // At the end of this turn of the event loop, so that every call the turn serves is in. Measured: waiting 2 ms longer
      // makes batches larger and calls 20 us dearer, since the process falls asleep and wakes in between.
      setImmediate(start);
    });
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

  /** Those that are known to be locked by others go alone, as many as may wait. */
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

  function waitFor(batch: readonly Pending[]): void {
    waiting++;
    run(batch, true, () => {
      waiting--;
    });
  }

  /** Steps of an account stay in their order. */
  function takeFrom(isWanted: (account: string) => boolean): Pending[] {
    const batch: Pending[] = [];
    const rest: Pending[] = [];
    for (const pending of queue) {
      const account = accountOfStep(pending.step);
      const isIn = batch.length < MAX_BATCH && (account === undefined ? isWanted('') : isWanted(account));
      (isIn ? batch : rest).push(pending);
    }
    queue = rest;
    return batch;
  }

  function run(batch: readonly Pending[], waits: boolean, ended: () => void): void {
    const accounts = new Set<string>();
    for (const { step } of batch) {
      const account = accountOfStep(step);
      if (account !== undefined) accounts.add(account);
    }
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

  /** Returns those whose accounts are locked. */
  async function commitBatch(batch: readonly Pending[], waits: boolean): Promise<Pending[]> {
    const busy: Pending[] = [];
    try {
      const outcomes = await commit(
        batch.map(({ step }) => step),
        waits,
      );
      for (const [index, outcome] of outcomes.entries()) {
        const pending = batch[index];
        if (outcome.type === 'busy') pending && busy.push(pending);
        else pending?.resolve(outcome);
      }
    } catch (cause) {
      if (batch.length === 1 || isUnavailable(cause)) for (const { reject } of batch) reject(cause);
      // One step that the store cannot take is no fault of those it rode with.
      else for (const one of batch) busy.push(...(await commitBatch([one], waits)));
    }
    return busy;
  }

  function putOff(busy: readonly Pending[]): void {
    const now = performance.now();
    const kept: Pending[] = [];
    for (const pending of busy) {
      pending.busySince ??= now;
      const account = accountOfStep(pending.step);
      if (now - pending.busySince > BUSY_FOR_MS) {
        pending.reject(databaseUnavailable(new Error(`Account ${account} has been locked for ${BUSY_FOR_MS} ms.`)));
      } else kept.push(pending);
      if (account !== undefined) contended.set(account, WAITED_FOR);
    }
    queue = [...kept, ...queue];
    if (waiting < atOnce - 1) return;
    // Others wait already: these are not tried again and again meanwhile.
    const accounts = new Set(kept.map(({ step }) => accountOfStep(step) ?? ''));
    for (const account of accounts) taken.add(account);
    const pause = Bun.sleep(BUSY_PAUSE_MS).then(() => {
      underWay.delete(pause);
      for (const account of accounts) taken.delete(account);
      start();
    });
    underWay.add(pause);
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
    while (underWay.size > 0 || queue.length > 0) {
      start();
      await Promise.race(underWay);
    }
  }

  return { submit, note, forget: (callId) => void notes.delete(callId), flush };
}
