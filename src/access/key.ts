/** API keys: random, shown once, stored as a hash with the last four characters for display. */
import { newId } from '../canonical/id.ts';
import type { KeyKind } from '../store/rows.ts';

const KEY_PREFIXES = { caller: 'sk-', admin: 'sk-admin-' } as const satisfies Record<KeyKind, string>;
const KEY_LENGTH = 48;

export interface IssuedKey {
  /** The key itself. It is returned to its owner and never stored. */
  key: string;
  hash: string;
  last4: string;
}

/** Makes a new key, or prepares the `given` one for storage. */
export function issueKey(kind: KeyKind, given?: string): IssuedKey {
  const key = given ?? newId(KEY_PREFIXES[kind], KEY_LENGTH);
  return { key, hash: hashKey(key), last4: key.slice(-4) };
}

/** SHA-256 in hex. Keys are random, so a slow hash would add no protection. */
export function hashKey(key: string): string {
  return new Bun.CryptoHasher('sha256').update(key).digest('hex');
}
