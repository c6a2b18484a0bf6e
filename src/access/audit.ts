/** The audit log of admin changes: who changed what, when, and the values before and after. It contains no secrets. */
import { newTimedId } from '../canonical/id.ts';
import { writeMoney } from '../canonical/money.ts';
import { lastFour, SECRET_SETTING } from '../canonical/redaction.ts';
import type { Audit, AuditRow, EntryRow } from '../store/rows.ts';

interface AuditedChange {
  /** The id of the admin key, or `cli` or `start` if no key was used. */
  actor: string;
  /** `key.created`, `model.changed` … */
  action: string;
  subject: string;
  before?: object | undefined;
  after?: object | undefined;
}

/** The audit row of a change. Secrets in `before` and `after` are removed; of credentials the last characters stay. */
export function auditRow({ actor, action, subject, before, after }: AuditedChange, at: number): AuditRow {
  const row: AuditRow = { id: newTimedId('audit_', at), at, actor, action, subject };
  if (before) row.before = auditText(before);
  if (after) row.after = auditText(after);
  return row;
}

/** Builds the audit row of a change from the rows before and after it. */
export function auditOf(change: Omit<AuditedChange, 'before' | 'after'>, at: number): Audit<object> {
  return (before, after) => auditRow({ ...change, before, after }, at);
}

/** Audit actions of ledger entries made by admins. */
export const ENTRY_ACTIONS = {
  'top-up': 'account.topped-up',
  refund: 'account.refunded',
  adjustment: 'account.adjusted',
  redemption: 'account.redeemed',
} as const;

/** Builds the audit row of a ledger entry. Its subject is the account; the ledger has the rest. */
export function auditOfEntry(act: Omit<AuditedChange, 'before' | 'after'>, at: number): Audit<EntryRow> {
  return (_, entry) => {
    if (!entry) return auditRow(act, at);
    const { amount, seq, callId, note, idempotencyKey } = entry;
    return auditRow({ ...act, after: { amount, seq, callId, note, idempotencyKey } }, at);
  };
}

const SECRETS: readonly string[] = [
  'hash',
  'priorHash',
  'key',
  'secret',
  'passwordHash',
  'totpStored',
  'totpPending',
  'recoveryCodes',
];

function auditText(value: object): string {
  return JSON.stringify(value, (member, inner: unknown) => {
    if (SECRETS.includes(member)) return undefined;
    if (member === 'credentials' && Array.isArray(inner)) return inner.map((one) => lastFour(String(one)));
    if (SECRET_SETTING.test(member) && typeof inner === 'string') return lastFour(inner);
    return typeof inner === 'bigint' ? writeMoney(inner) : inner;
  });
}
