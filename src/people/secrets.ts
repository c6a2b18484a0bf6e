/** Secrets of sessions and links: 256 random bits, stored as a hash. */
import { randomBytes } from 'node:crypto';

/** Only `hash` is stored. */
export interface Secret {
  /** In base64url. It is given away and never stored. */
  text: string;
  hash: string;
}

const SECRET_BYTES = 32;

/** 256 random bits. */
export function newSecret(): Secret {
  const text = randomBytes(SECRET_BYTES).toString('base64url');
  return { text, hash: hashSecret(text) };
}

/** SHA-256 in hex. Secrets are random, so a slow hash would add no protection. */
export function hashSecret(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex');
}
