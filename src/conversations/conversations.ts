/** Storage of conversations: responses that can be continued, and reasoning signatures for clients whose format cannot carry them. */
import type { KeptStore, NewResponseRow, ResponseRow, SignatureRow } from '../store/kept.ts';
import { createKeepBatch } from './keep-batch.ts';
import { createReplyCache, type ReplyCache } from './reply-cache.ts';
import { createSignatureStore, type SignatureStore } from './signature-store.ts';

export interface MemorySettings {
  /** How long a response is stored; 0: not at all. */
  responsesMs: number;
  /** How long the signatures of a turn are stored; 0: not at all. */
  signaturesMs: number;
  /** The most that is stored of the replies of an account for the same requests. Absent: 64 MiB. */
  accountCacheBytes?: number;
}

export interface Memory {
  /** Whether responses are stored. */
  readonly keepsResponses: boolean;
  /** Resolves when everything is committed: from then on every process can find it. */
  keep(response: RememberedResponse | undefined, signatures: readonly SignatureRow[]): Promise<void>;
  response(account: string, id: string, now: number): Promise<ResponseRow | undefined>;
  /** The response and those that it continues, oldest first. Empty if it does not exist. */
  responseChain(account: string, id: string, now: number): Promise<ResponseRow[]>;
  responsesWith(account: string, items: readonly string[], now: number): Promise<ResponseRow[]>;
  /** `false` if there is no such response. */
  forgetResponse(account: string, id: string, now: number): Promise<boolean>;
  readonly signatureStore: SignatureStore;
  /** Replies that are given again to the same request. */
  readonly replies: ReplyCache;
  /** Removes expired rows, a limited number at a time. Call it often: it returns at once if nothing is due. */
  sweep(now: number): Promise<void>;
}

export type RememberedResponse = Omit<NewResponseRow, 'expiresAt'>;

/** The maximum of signature rows in the database; a turn has two. */
const MOST_SIGNATURES = 1_000_000;
const SWEEP_PAUSE_MS = 600_000;
const ACCOUNT_CACHE_BYTES = 64 * 1024 * 1024;

/**
 * Stored responses, reasoning signatures and replies over the tables of `kept`. Times are milliseconds; with 0 nothing of that kind is
 * stored.
 *
 * @example
 * const memory = createMemory(store.kept, { responsesMs: 30 * 86_400_000, signaturesMs: 86_400_000 });
 */
export function createMemory(
  kept: KeptStore,
  { responsesMs, signaturesMs, accountCacheBytes = ACCOUNT_CACHE_BYTES }: MemorySettings,
): Memory {
  const batch = createKeepBatch(kept);
  const replies = createReplyCache(kept.replies, accountCacheBytes);
  let nextSweep = 0;
  return {
    keepsResponses: responsesMs > 0,
    keep: (response, signatures) =>
      batch.submit(response && { ...response, expiresAt: response.at + responsesMs }, signatures),
    response: (account, id, now) => kept.response(account, id, now),
    responseChain: (account, id, now) => kept.responseChain(account, id, now),
    responsesWith: async (account, items, now) => (items.length > 0 ? kept.responsesWith(account, items, now) : []),
    forgetResponse: (account, id, now) => kept.forgetResponse(account, id, now),
    signatureStore: createSignatureStore(kept, signaturesMs),
    replies,
    async sweep(now) {
      await replies.sweep(now);
      if (now < nextSweep) return;
      nextSweep = now + SWEEP_PAUSE_MS;
      if (await kept.sweepKept(now, MOST_SIGNATURES)) nextSweep = now;
    },
  };
}
