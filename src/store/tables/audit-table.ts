/** The record of what admins changed. */
import { type Database, insertInto, sql, where } from '../database.ts';
import type { AuditRow, Store } from '../store.ts';

interface AuditColumns {
  id: string;
  at: bigint;
  actor: string;
  action: string;
  subject: string;
  before: string | null;
  after: string | null;
}

export function auditTable(db: Database): Pick<Store, 'audit' | 'audits'> {
  return {
    async audit({ id, at, actor, action, subject, before, after }) {
      await db.all(insertInto('audits', { id, at, actor, action, subject, before, after }));
    },

    async audits({ limit, subject, after }) {
      const conditions = [
        subject === undefined ? undefined : sql`subject = ${subject}`,
        after === undefined ? undefined : sql`seq < (SELECT seq FROM audits WHERE id = ${after})`,
      ];
      const rows = await db.all<AuditColumns>(
        sql`SELECT * FROM audits ${where(conditions)} ORDER BY seq DESC LIMIT ${limit}`,
      );
      return rows.map(toAudit);
    },
  };
}

function toAudit(row: AuditColumns): AuditRow {
  return {
    id: row.id,
    at: Number(row.at),
    actor: row.actor,
    action: row.action,
    subject: row.subject,
    ...(row.before !== null && { before: row.before }),
    ...(row.after !== null && { after: row.after }),
  };
}
