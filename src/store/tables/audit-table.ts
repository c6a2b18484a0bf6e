/** The record of what admins changed, written in the transaction of the change. */
import {
  type Database,
  insertInto,
  raw,
  type Statement,
  type Steps,
  sql,
  updateRow,
  type Value,
  where,
} from '../database.ts';
import type { Audit, AuditRow } from '../rows.ts';
import type { Store } from '../store.ts';

interface AuditColumns {
  id: string;
  at: bigint;
  actor: string;
  action: string;
  subject: string;
  before: string | null;
  after: string | null;
}

export function auditTable(db: Database): Pick<Store, 'audits' | 'recordAudit'> {
  return {
    async recordAudit(audit) {
      await db.all(insertAudit(audit));
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

export function insertAudit({ id, at, actor, action, subject, before, after }: AuditRow): Statement {
  return insertInto('audits', { id, at, actor, action, subject, before, after });
}

/** Tells other processes that something they keep in memory has changed. */
export const NOTICE = raw('UPDATE generation SET value = value + 1');

/** Ends a transaction: what was changed goes on record, where somebody is to be named for it. */
export function* recorded<Row>(
  audit: Audit<Row> | undefined,
  before: Row | undefined,
  after: Row | undefined,
): Steps<void> {
  if (audit) yield insertAudit(audit(before, after));
}

/** The same, of something other processes keep in memory. */
export function* noticed<Row>(
  audit: Audit<Row> | undefined,
  before: Row | undefined,
  after: Row | undefined,
): Steps<void> {
  yield NOTICE;
  yield* recorded(audit, before, after);
}

/** Changes the row with this id. It is locked first, so that what is recorded as before is what the change met. */
export function changeRow<Columns, Row>(
  table: string,
  id: string,
  columns: { readonly [column: string]: Value | undefined },
  read: (row: Columns) => Row,
  audit: Audit<Row> | undefined,
): () => Steps<Row | undefined> {
  return function* () {
    const [old] = (yield updateRow(table, id, {})) as Columns[];
    const [changed] = (yield updateRow(table, id, columns)) as Columns[];
    if (!old || !changed) return undefined;
    const after = read(changed);
    yield* noticed(audit, read(old), after);
    return after;
  };
}

/** Writes over the row of this name, or adds it. */
export function putNamed<Columns, Row extends { name: string }>(
  table: string,
  row: Row,
  put: Statement,
  read: (row: Columns) => Row,
  audit: Audit<Row> | undefined,
): () => Steps<void> {
  return function* () {
    const [old] = (yield sql`UPDATE ${raw(table)} SET name = name WHERE name = ${row.name} RETURNING *`) as Columns[];
    yield put;
    yield* noticed(audit, old && read(old), row);
  };
}

/** Removes the row whose `column` has this value; answers whether it was there. */
export function removeRow<Columns, Row>(
  table: string,
  column: 'id' | 'name',
  value: string,
  read: (row: Columns) => Row,
  audit: Audit<Row> | undefined,
): () => Steps<boolean> {
  return function* () {
    const [old] = (yield sql`DELETE FROM ${raw(table)} WHERE ${raw(column)} = ${value} RETURNING *`) as Columns[];
    if (!old) return false;
    yield* noticed(audit, read(old), undefined);
    return true;
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
