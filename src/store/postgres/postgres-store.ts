/** The store over Postgres, shared by gateway processes on one or several machines. */

import { requireCurrent } from '../backup/backup-tables.ts';
import { SCHEMA_VERSIONS } from '../backup/schema-versions.ts';
import type { CredentialCipher } from '../credential-cipher.ts';
import { raw, sql } from '../database.ts';
import { probeDatabase } from '../readiness.ts';
import type { Store } from '../store.ts';
import { tableStore } from '../table-store.ts';
import { insertAccount } from '../tables/account-table.ts';
import { insertAudit } from '../tables/audit-table.ts';
import { insertKey } from '../tables/key-table.ts';
import { outcomeOf, registrationSteps } from '../tables/registration-table.ts';
import { repairTable } from '../tables/repair-table.ts';
import { backUpPostgres, restorePostgres } from './backup.ts';
import { openConnection, type PostgresSettings } from './connection.ts';
import { decideUnderLock, postgresLedger } from './ledger.ts';
import { migratePostgres, postgresSchema, probePostgres } from './migrations.ts';
import { tidyCalls } from './partitions.ts';
import { verifyPostgres } from './verification.ts';

/** More batches would only wait for each other on the server. */
const MOST_BATCHES = 4;

/** One connection waits for locks, one does not, and one is for everything else. */
function batchesOver(connections: number): number {
  return Math.min(MOST_BATCHES, connections <= 2 ? connections : connections - 1);
}

/** The advisory lock of the bootstrap in this database. An arbitrary number. */
const BEGIN_LOCK = 7_305_164_322;

export function openPostgresStore(settings: PostgresSettings, cipher: CredentialCipher | undefined): Store {
  const db = openConnection(settings);
  const ledger = postgresLedger(db);
  return {
    ...tableStore(db, cipher),
    ...repairTable(db, raw('version = version + 1')),
    migrate: () => migratePostgres(db),
    schema: () => postgresSchema(db),
    ready: () =>
      probeDatabase(
        () => postgresSchema(db),
        () => probePostgres(db, Date.now()),
      ),
    close: () => db.close(),
    ledger: (steps, waits = true) => (steps.length === 0 ? Promise.resolve([]) : ledger(steps, waits)),
    // Everything else finds a connection that does not wait for a lock.
    batchesAtOnce: batchesOver(settings.connections),
    verify: (options = {}) => verifyPostgres(settings.url, options),
    engine: 'Postgres',
    schemaVersions: SCHEMA_VERSIONS,
    async backUp(sink) {
      requireCurrent(await postgresSchema(db));
      await backUpPostgres(settings.url, sink);
    },
    restore: (of, batches) => restorePostgres(settings.url, of.Postgres, batches),

    begin: ({ account, keys, steps, audits }) =>
      db.transact(async (run) => {
        await run(sql`SELECT pg_advisory_xact_lock(${BEGIN_LOCK})`);
        if ((await run(sql`SELECT 1 FROM accounts LIMIT 1`)).length > 0) return false;
        for (const statement of [insertAccount(account), ...keys.map(insertKey), ...audits.map(insertAudit)])
          await run(statement);
        await decideUnderLock(run, steps);
        return true;
      }),

    register(registration) {
      const work = db.transact(async (run) => {
        const asked = registrationSteps(registration);
        let step = asked.next();
        while (!step.done) step = asked.next(await run(step.value));
        if (step.value.length > 0) await decideUnderLock(run, step.value);
      });
      return outcomeOf(work);
    },

    tidy: (now, keepFrom) => tidyCalls(db, now, keepFrom),
  };
}
