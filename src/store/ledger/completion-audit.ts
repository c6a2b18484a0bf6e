/** The audit row of a call whose provisional settlement was completed. */
import { type Money, writeMoney } from '../../canonical/money.ts';
import type { AuditRow, CallOutcome, CallRow } from '../rows.ts';
import type { FormerCall } from '../sums/call-sums.ts';

export function completionAudit(before: FormerCall, row: CallRow, at: number): AuditRow {
  const text = ({ cost, outcome }: { cost: Money; outcome: CallOutcome }) =>
    JSON.stringify({ cost: writeMoney(cost), outcome });
  return {
    id: `audit_${row.id}`,
    at,
    actor: 'gateway',
    action: 'call.completed',
    subject: row.id,
    before: text(before),
    after: text(row),
  };
}
