/** The audit log, written in the transaction of each change. */
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

/** Tells other processes that something in their caches has changed. */
export const NOTICE = raw('UPDATE generation SET value = value + 1');

/** Ends a transaction: writes the audit row if there is an actor. */
export function* recorded<Row>(
  audit: Audit<Row> | undefined,
  before: Row | undefined,
  after: Row | undefined,
): Steps<void> {
  if (audit) yield insertAudit(audit(before, after));
}

/** The same for changes of what other processes cache. */
export function* noticed<Row>(
  audit: Audit<Row> | undefined,
  before: Row | undefined,
  after: Row | undefined,
): Steps<void> {
  yield NOTICE;
  yield* recorded(audit, before, after);
}

/** Changes the row with this id. Locks it first, so that the audit row has the values that were replaced. */
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

/** Inserts the row of this name, or replaces it. */
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

/** Removes the row whose `column` has this value. Returns whether it existed. */
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
