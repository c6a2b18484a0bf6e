/** Tasks with their leases, and the accounts' webhook secrets. */
import { randomBytes } from 'node:crypto';
import { type Database, insertInto, raw, type Statement, sql, within } from '../database.ts';
import type { TaskRow, TaskStore } from '../tasks.ts';

interface TaskColumns {
  id: string;
  account: string;
  created_at: bigint;
  idempotency_key: string | null;
  due_at: bigint | null;
  body: string;
}

/** Without the request, which may be large. */
const COLUMNS = raw('id, account, created_at, idempotency_key, due_at, body');
const SECRET_BYTES = 24;
/** The maximum of ids in one statement. */
const MOST_IDS = 500;

export function taskTable(db: Database): TaskStore {
  const rows = async (statement: Statement) => (await db.all<TaskColumns>(statement)).map(toTask);
  return {
    async insert(row, worker, leaseUntil) {
      const { id, account, createdAt, idempotencyKey, dueAt, body, request } = row;
      const columns = {
        id,
        account,
        created_at: createdAt,
        idempotency_key: idempotencyKey,
        due_at: dueAt,
        lease: worker,
        lease_until: leaseUntil,
        body,
        request,
      };
      const inserted = await rows(sql`${insertInto('tasks', columns)} ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`);
      const kept =
        inserted[0] ?? (idempotencyKey === undefined ? undefined : await this.taskByKey(account, idempotencyKey));
      if (!kept) throw new Error(`The task ${id} already exists.`);
      return kept;
    },
    task: async (id) => (await rows(sql`SELECT ${COLUMNS} FROM tasks WHERE id = ${id}`))[0],
    async known(ids) {
      const known = new Set<string>();
      for (let from = 0; from < ids.length; from += MOST_IDS) {
        const some = within(ids.slice(from, from + MOST_IDS));
        for (const { id } of await db.all<{ id: string }>(sql`SELECT id FROM tasks WHERE id ${some}`)) known.add(id);
      }
      return known;
    },
    taskByKey: async (account, key) =>
      (await rows(sql`SELECT ${COLUMNS} FROM tasks WHERE account = ${account} AND idempotency_key = ${key}`))[0],
    async request(id) {
      const [row] = await db.all<{ request: string | null }>(sql`SELECT request FROM tasks WHERE id = ${id}`);
      return row?.request ?? undefined;
    },
    tasks: (account, { limit, after, oldestFirst = false, without }) => {
      const order = raw(oldestFirst ? 'ASC' : 'DESC');
      const beyond = raw(oldestFirst ? '>' : '<');
      const place = sql`(created_at, id) ${beyond} (SELECT created_at, id FROM tasks WHERE id = ${after ?? ''})`;
      const shown = without === undefined ? raw('') : sql`AND id NOT LIKE ${`${without}%`}`;
      return rows(
        sql`SELECT ${COLUMNS} FROM tasks WHERE account = ${account} ${after === undefined ? raw('') : sql`AND ${place}`} ${shown}
          ORDER BY created_at ${order}, id ${order} LIMIT ${limit}`,
      );
    },
    async claim(worker, now, leaseUntil, limit) {
      const free = sql`due_at <= ${now} AND (lease_until IS NULL OR lease_until <= ${now})`;
      const due = sql`SELECT id FROM tasks WHERE ${free} ORDER BY due_at LIMIT ${limit}`;
      // Usually no task is due, and reading takes no lock.
      if ((await db.all(due)).length === 0) return [];
      // The condition is repeated: a process that waited for another's claim of the same row must see it as taken.
      return rows(
        sql`UPDATE tasks SET lease = ${worker}, lease_until = ${leaseUntil} WHERE id IN (${due}) AND ${free} RETURNING ${COLUMNS}`,
      );
    },
    async take(id, worker, now, leaseUntil) {
      const taken = await db.all(
        sql`UPDATE tasks SET lease = ${worker}, lease_until = ${leaseUntil}
          WHERE id = ${id} AND (lease_until IS NULL OR lease_until <= ${now}) RETURNING id`,
      );
      return taken.length > 0;
    },
    async save(id, worker, { body, dueAt, dropRequest, release }) {
      const saved = await db.all(
        sql`UPDATE tasks SET body = ${body}, due_at = ${dueAt ?? null}
            ${raw(dropRequest ? ', request = NULL' : '')} ${raw(release ? ', lease = NULL, lease_until = NULL' : '')}
          WHERE id = ${id} AND lease = ${worker} RETURNING id`,
      );
      return saved.length > 0;
    },
    async extend(id, worker, leaseUntil) {
      const extended = await db.all(
        sql`UPDATE tasks SET lease_until = ${leaseUntil} WHERE id = ${id} AND lease = ${worker} RETURNING id`,
      );
      return extended.length > 0;
    },
    async workers() {
      const leases = await db.all<{ lease: string }>(sql`SELECT DISTINCT lease FROM tasks WHERE lease IS NOT NULL`);
      return leases.map(({ lease }) => lease);
    },
    async releaseOf(workers) {
      await db.all(sql`UPDATE tasks SET lease = NULL, lease_until = NULL WHERE lease ${within(workers)}`);
    },
    async remove(id) {
      await db.all(sql`DELETE FROM tasks WHERE id = ${id}`);
    },
    async webhookSecret(account) {
      const fresh = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
      await db.all(sql`${insertInto('webhook_secrets', { account, secret: fresh })} ON CONFLICT DO NOTHING`);
      const [row] = await db.all<{ secret: string }>(
        sql`SELECT secret FROM webhook_secrets WHERE account = ${account}`,
      );
      return row?.secret ?? fresh;
    },
  };
}

function toTask(row: TaskColumns): TaskRow {
  return {
    id: row.id,
    account: row.account,
    createdAt: Number(row.created_at),
    body: row.body,
    ...(row.idempotency_key !== null && { idempotencyKey: row.idempotency_key }),
    ...(row.due_at !== null && { dueAt: Number(row.due_at) }),
  };
}
