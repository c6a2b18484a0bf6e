/** Codes of authenticator apps (RFC 6238: SHA-1, six digits, 30 seconds), each of which works once, and recovery codes. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { newId } from '../canonical/id.ts';
import type { PeopleStore, PersonRow } from '../store/people.ts';
import { hashSecret } from './secrets.ts';

const STEP_MS = 30_000;
const DIGITS = 6;
/** Clocks differ: one code before and one after the current one. */
const SLACK = [0, -1, 1] as const;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;

/** 160 random bits in base32 (RFC 4648), as authenticator apps expect them. */
export function newTotpSecret(): string {
  let bits = '';
  for (const byte of randomBytes(SECRET_BYTES)) bits += byte.toString(2).padStart(8, '0');
  return bits.replace(/.{5}/g, (five) => ALPHABET[Number.parseInt(five, 2)] ?? '');
}

/** What an authenticator app reads. */
export function totpUri(secret: string, name: string): string {
  return `otpauth://totp/${encodeURIComponent(`Modelport:${name}`)}?secret=${secret}&issuer=Modelport`;
}

/** The code of one step of 30 seconds since 1970 (RFC 6238, RFC 4226). `secret` is base32 without padding. */
export function totpCode(secret: string, step: number): string {
  let bits = '';
  for (const letter of secret) bits += ALPHABET.indexOf(letter).toString(2).padStart(5, '0');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', key).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** The step whose code this is, now. */
export function stepOf(secret: string, code: string, now: number): number | undefined {
  const current = Math.floor(now / STEP_MS);
  return SLACK.map((slack) => current + slack).find((step) => isSame(totpCode(secret, step), code));
}

const isSame = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

export const newRecoveryCodes = (): string[] => Array.from({ length: RECOVERY_CODES }, () => newId('', 16));

/** Whether the code is right and was not used before; it is used then. */
export async function useCode(people: PeopleStore, person: PersonRow, written: string, now: number): Promise<boolean> {
  const secret = people.totpSecret(person);
  if (secret === undefined) return false;
  const code = written.replace(/[\s-]/g, '');
  if (!/^\d{6}$/.test(code)) return people.useRecoveryCode(person.id, hashSecret(code));
  const step = stepOf(secret, code, now);
  return step !== undefined && people.useTotpStep(person.id, step);
}
