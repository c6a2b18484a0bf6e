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

interface ListedColumns extends AuditColumns {
  actor_name: string | null;
}

const ACTOR_NAME = raw(
  'coalesce((SELECT name FROM keys WHERE keys.id = audits.actor), (SELECT name FROM people WHERE people.id = audits.actor))',
);

export function auditTable(db: Database): Pick<Store, 'audits' | 'recordAudit'> {
  return {
    async recordAudit(audit) {
      await db.all(insertAudit(audit));
    },
    async audits({ limit, subject, actor, action, after }) {
      const conditions = [
        subject === undefined ? undefined : sql`subject = ${subject}`,
        actor === undefined ? undefined : sql`actor = ${actor}`,
        action === undefined ? undefined : sql`action = ${action}`,
        after === undefined ? undefined : sql`seq < (SELECT seq FROM audits WHERE id = ${after})`,
      ];
      const listed = sql`SELECT audits.*, ${ACTOR_NAME} AS actor_name FROM audits ${where(conditions)} ORDER BY seq DESC LIMIT ${limit}`;
      // No index has actors and actions: on SQLite these are read in another thread than that of the calls.
      const isSearch = actor !== undefined || action !== undefined;
      const rows = await (isSearch ? db.scan<ListedColumns>(listed) : db.all<ListedColumns>(listed));
      return rows.map((row) => ({ ...toAudit(row), ...(row.actor_name !== null && { actorName: row.actor_name }) }));
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
