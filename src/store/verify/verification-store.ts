/** What is stored about verifications: their checkpoints, and the running verification. */
import type { VerifyOptions } from './books-reader.ts';
import type { CheckpointRow } from './checkpoint.ts';
import type { VerifyReport } from './report.ts';

/** A running verification, in any process. */
export interface RunningVerification {
  owner: string;
  startedAt: number;
  leaseUntil: number;
  /** Entries and calls read so far, and the total. */
  done: number;
  total: number;
}

export interface VerificationStore {
  /** Verifies the ledger while calls continue. Each statement reads a bounded part. */
  verify(options?: VerifyOptions): Promise<VerifyReport>;
  /** Checkpoints signed by this signer; those of others cannot be checked. */
  checkpoints(signer: string): Promise<CheckpointRow[]>;
  saveCheckpoints(signer: string, rows: readonly CheckpointRow[]): Promise<void>;
  /** Takes or renews the right to verify. `false` while another process has it at `now`. */
  leaseVerification(running: RunningVerification, now: number): Promise<boolean>;
  endVerification(owner: string): Promise<void>;
  runningVerification(now: number): Promise<RunningVerification | undefined>;
}
