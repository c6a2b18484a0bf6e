/** Replies that are given again to the same request of the same account, for a limited time and up to a limited size. */
import { type CachedReplyRow, type ReplyCacheStore, sizeOfReply } from '../store/reply-cache.ts';

export interface ReplyCache {
  /** The reply, if it is not older than `maxAgeMs`. */
  find(account: string, hash: string, now: number, maxAgeMs: number): Promise<CachedReplyRow | undefined>;
  /** Resolves when it is committed: from then on every process finds it. */
  put(row: CachedReplyRow): Promise<void>;
  /** Removes expired replies and those beyond the size, a limited number at a time. Call it often: it returns at once if nothing is due. */
  sweep(now: number): Promise<void>;
}

const SWEEP_PAUSE_MS = 600_000;
/** An account is trimmed when a process has written this part of the bound for it: summing up its rows on each write would cost more. */
const TRIMMED_AFTER = 16;

/** `accountBytes`: the most that is stored for an account; each process may exceed it by a sixteenth for a while. */
export function createReplyCache(store: ReplyCacheStore, accountBytes: number): ReplyCache {
  /** Bytes written by account since it was trimmed. */
  const written = new Map<string, number>();
  let nextSweep = 0;

  async function trim(account: string): Promise<void> {
    written.delete(account);
    while (await store.trim(account, accountBytes));
  }

  return {
    async find(account, hash, now, maxAgeMs) {
      const row = await store.find(account, hash, now);
      return row && row.at + maxAgeMs > now ? row : undefined;
    },

    async put(row) {
      await store.put(row);
      const bytes = (written.get(row.account) ?? 0) + sizeOfReply(row.body);
      written.set(row.account, bytes);
      if (bytes >= accountBytes / TRIMMED_AFTER) await trim(row.account);
    },

    async sweep(now) {
      if (now < nextSweep) return;
      nextSweep = now + SWEEP_PAUSE_MS;
      for (const account of [...written.keys()]) await trim(account);
      if (await store.sweep(now)) nextSweep = now;
    },
  };
}
