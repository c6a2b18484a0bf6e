/** How much is stored for clients and operators, and for how long. */
import { readInteger, readWord } from './read-settings.ts';
import type { Environment } from './setting-error.ts';

export interface Kept {
  /** Responses and reasoning signatures; 0: not at all. */
  responsesMs: number;
  signaturesMs: number;
  accountCacheBytes: number;
  /** The largest part of a captured request, and of a captured reply. */
  captureBytes: number;
  captureDays: number;
  /** The format of the hourly files of calls. */
  hourlyCalls: 'off' | 'ndjson' | 'csv' | 'parquet';
}

export function readKept(env: Environment): Kept {
  return {
    responsesMs: readInteger(env, 'MODELPORT_KEEP_RESPONSES_DAYS', 0, 3650) * 86_400_000,
    signaturesMs: readInteger(env, 'MODELPORT_KEEP_PROOFS_HOURS', 0, 87_600) * 3_600_000,
    accountCacheBytes: readInteger(env, 'MODELPORT_CACHE_ACCOUNT_BYTES', 1_048_576, 2 ** 40),
    captureBytes: readInteger(env, 'MODELPORT_CAPTURE_MAX_BYTES', 0, 2 ** 24),
    captureDays: readInteger(env, 'MODELPORT_CAPTURE_KEEP_DAYS', 0, 3650),
    hourlyCalls: readWord(env, 'MODELPORT_HOURLY_CALLS', ['off', 'ndjson', 'csv', 'parquet'] as const),
  };
}
