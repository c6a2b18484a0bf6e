/** The record of what admins change: who, what, when, and how it was before; never a secret. */
import { newTimedId } from '../canonical/id.ts';
import { writeMoney } from '../canonical/money.ts';
import type { AuditRow, Store } from '../store/store.ts';

/** A change that has been made. */
export interface Change {
  /** The admin key's id; `cli`, `start` where no key was used. */
  actor: string;
  /** `key.created`, `model.changed` … */
  action: string;
  subject: string;
  before?: object | undefined;
  after?: object | undefined;
}

/** Keeps the change on record. Secrets in what was before and after are left out, credentials but for their last characters. */
export async function recordChange(store: Store, now: number, change: Change): Promise<void> {
  const { actor, action, subject, before, after } = change;
  const entry: AuditRow = { id: newTimedId('audit_', now), at: now, actor, action, subject };
  if (before) entry.before = auditText(before);
  if (after) entry.after = auditText(after);
  await store.audit(entry);
}

const SECRETS: readonly string[] = ['hash', 'priorHash', 'key', 'secret'];

/** Settings of providers that are credentials by another name. */
export const SECRET_SETTING = /secret|password|(session|access|refresh)Token$/i;

function auditText(value: object): string {
  return JSON.stringify(value, (member, inner: unknown) => {
    if (SECRETS.includes(member)) return undefined;
    if (member === 'credentials' && Array.isArray(inner)) return inner.map((one) => lastFour(String(one)));
    if (SECRET_SETTING.test(member) && typeof inner === 'string') return lastFour(inner);
    return typeof inner === 'bigint' ? writeMoney(inner) : inner;
  });
}

/** Enough to recognise a secret by, too little to guess it. */
export function lastFour(secret: string): string {
  return secret.length < 12 ? '…' : `…${secret.slice(-4)}`;
}
