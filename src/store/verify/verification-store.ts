/** What is kept of verifications: how far they came, and that one is under way. */
import type { VerifyOptions } from './books-reader.ts';
import type { CheckpointRow } from './checkpoint.ts';
import type { VerifyReport } from './report.ts';

/** A verification under way, by whichever process. */
export interface RunningVerification {
  owner: string;
  startedAt: number;
  leaseUntil: number;
  /** Entries and calls read, of those to be read. */
  done: number;
  total: number;
}

export interface VerificationStore {
  /** Reads what the books say while calls go on, in statements that each read a bounded part. */
  verify(options?: VerifyOptions): Promise<VerifyReport>;
  /** By whom they are signed; another's mean nothing to it. */
  checkpoints(signer: string): Promise<CheckpointRow[]>;
  saveCheckpoints(signer: string, rows: readonly CheckpointRow[]): Promise<void>;
  /** Takes or renews the right to verify; `false` while another has it at `now`. */
  leaseVerification(running: RunningVerification, now: number): Promise<boolean>;
  endVerification(owner: string): Promise<void>;
  runningVerification(now: number): Promise<RunningVerification | undefined>;
}
