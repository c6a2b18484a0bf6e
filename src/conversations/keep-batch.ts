/** Gathers what concurrent calls leave to be kept and commits it together, apart from the ledger: bodies may be large. */
import type { KeptStore, NewResponseRow, ProofRow } from '../store/kept.ts';

export interface KeepBatch {
  /** Resolves when it is committed; rejects where it cannot be. */
  submit(response: NewResponseRow | undefined, proofs: readonly ProofRow[]): Promise<void>;
}

interface Pending {
  response: NewResponseRow | undefined;
  proofs: readonly ProofRow[];
  resolve(): void;
  reject(cause: unknown): void;
}

/** A larger batch would hold up the others for long. */
const MAX_BATCH = 64;

/** One batch under way, the next one gathering. */
export function createKeepBatch(kept: KeptStore): KeepBatch {
  const queue: Pending[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    while (queue.length > 0) await commit(queue.splice(0, MAX_BATCH));
    isRunning = false;
  }

  async function commit(batch: readonly Pending[]): Promise<void> {
    try {
      await kept.keep(
        batch.flatMap(({ response }) => response ?? []),
        batch.flatMap(({ proofs }) => proofs),
      );
      for (const { resolve } of batch) resolve();
    } catch (cause) {
      // One that cannot be kept must not take the others with it.
      if (batch.length === 1) batch[0]?.reject(cause);
      else for (const one of batch) await commit([one]);
    }
  }

  return {
    submit: (response, proofs) =>
      new Promise((resolve, reject) => {
        queue.push({ response, proofs, resolve, reject });
        if (!isRunning) void run();
      }),
  };
}
