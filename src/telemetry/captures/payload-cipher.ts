/** Encrypts a stored payload: AES-256-GCM with a key of its own, which the instance's secret key encrypts as it does credentials. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { CredentialCipher } from '../../store/credential-cipher.ts';

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const MARK = 'modelport payload 1\n';

/** A line with the mark, one with the encrypted key, then initialization vector, tag and encrypted bytes. Bound to its file's name. */
export function encryptPayload(bytes: Uint8Array, name: string, cipher: CredentialCipher): Uint8Array {
  const key = randomBytes(KEY_BYTES);
  const iv = randomBytes(IV_BYTES);
  const encrypting = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(name));
  const encrypted = Buffer.concat([encrypting.update(bytes), encrypting.final()]);
  const head = `${MARK}${cipher.encrypt(key.toString('base64url'), name)}\n`;
  return Buffer.concat([Buffer.from(head), iv, encrypting.getAuthTag(), encrypted]);
}

/** Throws an Error if the file was altered, was moved, or is encrypted with a key that is not known any more. */
export function decryptPayload(stored: Uint8Array, name: string, cipher: CredentialCipher): Uint8Array {
  const all = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  const end = all.indexOf('\n', MARK.length);
  if (!all.subarray(0, MARK.length).equals(Buffer.from(MARK)) || end < 0)
    throw new Error('This is not a stored payload.');
  const key = Buffer.from(cipher.decrypt(all.toString('utf8', MARK.length, end), name), 'base64url');
  const iv = all.subarray(end + 1, end + 1 + IV_BYTES);
  const tag = all.subarray(end + 1 + IV_BYTES, end + 1 + IV_BYTES + TAG_BYTES);
  const decrypting = createDecipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(name)).setAuthTag(tag);
  return Buffer.concat([decrypting.update(all.subarray(end + 1 + IV_BYTES + TAG_BYTES)), decrypting.final()]);
}
