/** Admin API: the audit log. */
import { Type } from 'typebox';
import type { Caller } from '../../../access/access.ts';
import { auditOf } from '../../../access/audit.ts';
import type { Audit, AuditRow } from '../../../store/store.ts';
import { listOf, PAGE, pageOf, Time, writeTime } from '../../fields.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, route } from '../../route.ts';

const AuditEntry = Type.Object({
  id: Type.String(),
  at: Time,
  actor: Type.String({ description: "an admin key's id; cli, start; file, its name and its fingerprint" }),
  action: Type.String(),
  subject: Type.String({ description: 'the id or name of what was changed' }),
  before: Type.Optional(Type.Object({})),
  after: Type.Optional(Type.Object({})),
});

export const AUDIT_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/admin/v1/audit', {
    gate: 'admin',
    permission: 'audit:read',
    summary: 'Lists the changes made by admins, latest first: who, what, when, before and after.',
    query: Type.Object({
      ...PAGE,
      subject: Type.Optional(Type.String({ description: 'the id or name of what was changed' })),
    }),
    reply: listOf(AuditEntry),
    answer: ({ store }, { query }) =>
      pageOf(
        query,
        (page) => store.audits({ ...page, ...(query.subject !== undefined && { subject: query.subject }) }),
        (entry) => entry.id,
        writeAudit,
      ),
  }),
];

function writeAudit({ at, before, after, ...entry }: AuditRow): object {
  return {
    ...entry,
    at: writeTime(at),
    before: before === undefined ? undefined : JSON.parse(before),
    after: after === undefined ? undefined : JSON.parse(after),
  };
}

/** The audit fields of an action by this admin. */
export function audited(
  { now }: Pick<HttpDeps, 'now'>,
  { key }: Pick<Caller, 'key'>,
  action: string,
  subject: string,
): Audit<object> {
  return auditOf({ actor: key, action, subject }, now());
}
