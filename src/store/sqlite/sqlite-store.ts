/** The store over SQLite: one file that several processes may have open. */

import { yieldToLoop } from '../../canonical/yield-to-loop.ts';
import { requireCurrent } from '../backup/backup-tables.ts';
import { SCHEMA_VERSIONS } from '../backup/schema-versions.ts';
import type { CredentialCipher } from '../credential-cipher.ts';
import { raw } from '../database.ts';
import { probeDatabase } from '../readiness.ts';
import type { Store } from '../store.ts';
import { mergesAt } from '../sums/overview-slots.ts';
import { sumDays } from '../sums/usage-days.ts';
import { tableStore } from '../table-store.ts';
import { insertAccount } from '../tables/account-table.ts';
import { insertAudit } from '../tables/audit-table.ts';
import { insertKey } from '../tables/key-table.ts';
import { forgetRefused } from '../tables/refused-call-table.ts';
import { outcomeOf, registrationSteps } from '../tables/registration-table.ts';
import { repairTable } from '../tables/repair-table.ts';
import { backUpSqlite, restoreSqlite } from './backup.ts';
import { createCheckpointer } from './checkpointer.ts';
import { openConnection, type SqliteConnection, type SqliteSync } from './connection.ts';
import { filedFirst } from './filed-first.ts';
import { type LedgerTables, prepareLedger } from './ledger-tables.ts';
import { migrateSqlite, sqliteSchema } from './migrations.ts';
import { mergeSlots } from './overview-rows.ts';
import { probeSqlite } from './probe.ts';
import { endReads } from './read-thread.ts';
import { rowsOfEach } from './rows-of-each.ts';
import { verifySqlite } from './verification.ts';

export async function openSqliteStore(
  path: string,
  sync: SqliteSync,
  cipher: CredentialCipher | undefined,
  leavesUnfiled = false,
): Promise<Store> {
  const db = await openConnection(path, sync);
  const checkpointer = createCheckpointer(path, db.file);
  // Prepared on first use: before `migrate` the tables may not exist.
  let prepared: LedgerTables | undefined;
  const tables = () => (prepared ??= prepareLedger(db.file, () => leavesUnfiled || checkpointer.isFiling()));
  const filed = filedFirst(db, () => tables().file());

  return {
    ...tableStore(filed, cipher),
    ...repairTable(filed, raw('name = name')),
    migrate: () => migrateSqlite(db),
    schema: () => sqliteSchema(db),
    ready() {
      return probeDatabase(
        () => sqliteSchema(db),
        () => {
          checkpointer.writes();
          return probeSqlite(db, Date.now());
        },
      );
    },
    async close() {
      await checkpointer.close();
      await endReads(path).catch(() => {});
      // If the disk is full, the next process that opens the file does it.
      if (prepared) await db.transact(prepared.file).catch(() => {});
      db.file.close();
    },
    batchesAtOnce: 1,
    ledger(steps) {
      checkpointer.writes();
      return db.transact(() => tables().apply(steps));
    },
    verify: (options = {}) => verifySqlite(path, options),
    engine: 'SQLite',
    schemaVersions: SCHEMA_VERSIONS,
    async backUp(sink) {
      requireCurrent(await sqliteSchema(db));
      await backUpSqlite(path, sink);
    },
    restore: (of, batches) => restoreSqlite(path, db, of.SQLite, batches),

    begin: ({ account, keys, steps, audits }) =>
      db.transact(() => {
        if (db.run({ text: 'SELECT 1 FROM accounts LIMIT 1', values: [] }).length > 0) return false;
        for (const statement of [insertAccount(account), ...keys.map(insertKey), ...audits.map(insertAudit)])
          db.run(statement);
        tables().apply(steps);
        return true;
      }),

    register(registration) {
      checkpointer.writes();
      const work = db.transact(() => {
        const asked = registrationSteps(registration);
        let step = asked.next();
        while (!step.done) step = asked.next(db.run(step.value));
        tables().apply(step.value);
      });
      return outcomeOf(work);
    },

    async tidy(now, keepFrom) {
      await db.transact(() => db.run(forgetRefused(now)));
      for (const [size, before] of mergesAt(now)) await db.transact(() => mergeSlots(db.file, size, before));
      if (keepFrom !== undefined) while (await dropCalls(db, keepFrom)) await yieldToLoop();
      await sumDays(filed, now, { rowsOfEach });
    },
  };
}

/** Calls removed per transaction, so that other processes do not wait long. */
const DROPPED_AT_ONCE = 500;

/** Returns whether there may be more. */
function dropCalls(db: SqliteConnection, before: number): Promise<boolean> {
  return db.transact(() => {
    db.run({ text: 'UPDATE kept_from SET at = $1 WHERE at < $1', values: [before] });
    const dropped = db.run({
      text: 'DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE at < $1 ORDER BY at LIMIT $2) RETURNING id',
      values: [before, DROPPED_AT_ONCE],
    });
    if (dropped.length < DROPPED_AT_ONCE) db.run({ text: 'DELETE FROM call_tags WHERE at < $1', values: [before] });
    return dropped.length === DROPPED_AT_ONCE;
  });
}
