/** Keys: random, shown once, kept as a hash with the last four characters for display. */
import { newId } from '../canonical/id.ts';
import type { KeyKind } from '../store/store.ts';

export const KEY_PREFIXES = { caller: 'sk-', admin: 'sk-admin-' } as const satisfies Record<KeyKind, string>;
const KEY_LENGTH = 48;

export interface IssuedKey {
  /** The key itself: for its owner's eyes, never stored. */
  key: string;
  hash: string;
  last4: string;
}

/** A new key, or what is to be stored of a `given` one. */
export function issueKey(kind: KeyKind, given?: string): IssuedKey {
  const key = given ?? newId(KEY_PREFIXES[kind], KEY_LENGTH);
  return { key, hash: hashKey(key), last4: key.slice(-4) };
}

/** SHA-256 in hex: a key is random enough that a slow hash would protect nothing more. */
export function hashKey(key: string): string {
  return new Bun.CryptoHasher('sha256').update(key).digest('hex');
}
