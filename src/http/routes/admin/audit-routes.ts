/** Admin API: the audit log. */
import { Type } from 'typebox';
import type { Caller } from '../../../access/access.ts';
import { auditOf } from '../../../access/audit.ts';
import type { Audit, AuditRow, Page } from '../../../store/rows.ts';
import { named } from '../../fields/named.ts';
import { listOf, PAGE, pageOf } from '../../fields/page.ts';
import { Time, writeTime } from '../../fields/time.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, route } from '../../route.ts';

const AuditEntry = named('AuditEntry', {
  id: Type.String(),
  at: Time,
  actor: Type.String({
    description: 'the id of an admin key or a person; cli, start, sign-in; file, its name and its fingerprint',
  }),
  actorName: Type.Optional(Type.String({ description: 'the name of the key or the person' })),
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
      actor: Type.Optional(Type.String({ description: 'who changed it, as in `actor`' })),
      action: Type.Optional(Type.String({ description: 'what was done, such as `key.created`' })),
    }),
    reply: listOf(AuditEntry),
    answer: ({ store }, { query }) => {
      const { subject, actor, action } = query;
      const read = (page: Page) => store.audits({ ...page, subject, actor, action });
      return pageOf(query, read, (entry) => entry.id, writeAudit);
    },
  }),
];

function writeAudit({ at, before, after, ...entry }: AuditRow & { actorName?: string }): object {
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
