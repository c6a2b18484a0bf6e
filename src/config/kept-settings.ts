/** How long responses, signatures and replies are stored, and how much of them. */
import { readWhole } from './read-settings.ts';
import type { Environment } from './setting-error.ts';

export function readKept(env: Environment): { responsesMs: number; signaturesMs: number; accountCacheBytes: number } {
  return {
    responsesMs: readWhole(env, 'MODELPORT_KEEP_RESPONSES_DAYS', 0, 3650) * 86_400_000,
    signaturesMs: readWhole(env, 'MODELPORT_KEEP_PROOFS_HOURS', 0, 87_600) * 3_600_000,
    accountCacheBytes: readWhole(env, 'MODELPORT_CACHE_ACCOUNT_BYTES', 1_048_576, 2 ** 40),
  };
}
