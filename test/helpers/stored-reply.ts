/** Makes a stored reply from the members that a test is about. */
import { HOUR_MS } from '../../src/canonical/time.ts';
import type { CachedReplyRow } from '../../src/store/reply-cache.ts';

export const NOON = Date.UTC(2026, 4, 5, 12);

/** A reply of `acc_1`, stored at noon for an hour. */
export function storedReply(hash: string, members: Partial<CachedReplyRow> = {}): CachedReplyRow {
  return { account: 'acc_1', hash, at: NOON, expiresAt: NOON + HOUR_MS, body: '{"text":"😀 \\u0000"}', ...members };
}
