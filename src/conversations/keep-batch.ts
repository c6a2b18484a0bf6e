/** Commits what concurrent calls store in batches, separate from the ledger because bodies may be large. */
import type { KeptStore, NewResponseRow, SignatureRow } from '../store/kept.ts';

export interface KeepBatch {
  /** Resolves when committed; rejects if that fails. */
  submit(response: NewResponseRow | undefined, signatures: readonly SignatureRow[]): Promise<void>;
}

interface PendingRows {
  response: NewResponseRow | undefined;
  signatures: readonly SignatureRow[];
  resolve(): void;
  reject(cause: unknown): void;
}

/** A larger batch would delay others. */
const MAX_BATCH = 64;

/** One batch runs while the next is collected. */
export function createKeepBatch(kept: KeptStore): KeepBatch {
  const queue: PendingRows[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    while (queue.length > 0) await commit(queue.splice(0, MAX_BATCH));
    isRunning = false;
  }

  async function commit(batch: readonly PendingRows[]): Promise<void> {
    try {
      await kept.keep(
        batch.flatMap(({ response }) => response ?? []),
        batch.flatMap(({ signatures }) => signatures),
      );
      for (const { resolve } of batch) resolve();
    } catch (cause) {
      // One row that cannot be stored must not fail the others.
      if (batch.length === 1) batch[0]?.reject(cause);
      else for (const one of batch) await commit([one]);
    }
  }

  return {
    submit: (response, signatures) =>
      new Promise((resolve, reject) => {
        queue.push({ response, signatures, resolve, reject });
        if (!isRunning) void run();
      }),
  };
}
