/** The record of what admins change: who, what, when, and how it was before; never a secret. */
import { newTimedId } from '../canonical/id.ts';
import { writeMoney } from '../canonical/money.ts';
import { SECRET_SETTING } from '../canonical/secret-setting.ts';
import type { Audit, AuditRow, EntryRow } from '../store/store.ts';

interface Change {
  /** The admin key's id; `cli`, `start` where no key was used. */
  actor: string;
  /** `key.created`, `model.changed` … */
  action: string;
  subject: string;
  before?: object | undefined;
  after?: object | undefined;
}

/** The change as it is kept. Secrets in what was before and after are left out, credentials but for their last characters. */
export function auditRow({ actor, action, subject, before, after }: Change, at: number): AuditRow {
  const row: AuditRow = { id: newTimedId('audit_', at), at, actor, action, subject };
  if (before) row.before = auditText(before);
  if (after) row.after = auditText(after);
  return row;
}

/** Keeps a change of rows as what they were before and after it. */
export function auditOf(change: Omit<Change, 'before' | 'after'>, at: number): Audit<object> {
  return (before, after) => auditRow({ ...change, before, after }, at);
}

/** What an entry by hand is called on record. */
export const ENTRY_ACTIONS = {
  'top-up': 'account.topped-up',
  refund: 'account.refunded',
  adjustment: 'account.adjusted',
  redemption: 'account.redeemed',
} as const;

/** Keeps an entry as what moved: its account is the subject, and the ledger has the rest. */
export function auditOfEntry(act: Omit<Change, 'before' | 'after'>, at: number): Audit<EntryRow> {
  return (_, entry) => {
    if (!entry) return auditRow(act, at);
    const { amount, seq, callId, note, idempotencyKey } = entry;
    return auditRow({ ...act, after: { amount, seq, callId, note, idempotencyKey } }, at);
  };
}

const SECRETS: readonly string[] = ['hash', 'priorHash', 'key', 'secret'];

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
