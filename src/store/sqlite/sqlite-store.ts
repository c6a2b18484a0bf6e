/** The Store over SQLite: one file that several processes may have open at once. */
import { Database } from 'bun:sqlite';
import type { LedgerOutcome, LedgerStep, Store } from '../store.ts';
import {
  changeAccount,
  insertAccount,
  readAccount,
  readAccountSpending,
  readAccounts,
  readDeadOwners,
  saveHeartbeat,
} from './account-tables.ts';
import { readCallById, readCalls, readUsage } from './call-table.ts';
import {
  deleteModel,
  deleteProvider,
  insertPrice,
  readModels,
  readPrice,
  readPrices,
  readProviders,
  saveModelRow,
  saveProviderRow,
} from './catalog-tables.ts';
import { keptTables } from './kept-tables.ts';
import {
  changeKey,
  deleteKey,
  insertAudit,
  insertKey,
  readAudits,
  readKeyByHash,
  readKeyById,
  readKeySpending,
  readKeys,
} from './key-tables.ts';
import { prepareLedger, readEntries, readHolds } from './ledger-tables.ts';
import { migrateSqlite, SCHEMA_VERSION, schemaVersion } from './migrations.ts';
import { verifySqlite } from './verify.ts';

/** `normal`: a commit outlives the process, not always a power cut. `full`: it outlives that too, for an fsync a batch. */
export type SqliteSync = 'normal' | 'full';

const BUSY_TIMEOUT_MS = 5000;
/** The indexes of some 100,000 calls. */
const CACHE_KIB = 16_384;

export function openSqliteStore(path: string, sync: SqliteSync): Store {
  const db = openDatabase(path, sync);
  // Prepared on first use: before `migrate` there may be no tables to prepare for.
  let applySteps: ((steps: readonly LedgerStep[]) => LedgerOutcome[]) | undefined;

  /** IMMEDIATE: takes the write lock before the first read, so that what was read is still so when it is written. */
  function transact<T>(work: () => T): T {
    db.query('BEGIN IMMEDIATE').run();
    try {
      const result = work();
      db.query('COMMIT').run();
      return result;
    } catch (error) {
      if (db.inTransaction) db.query('ROLLBACK').run();
      throw error;
    }
  }

  /** A change of what other processes keep in memory. */
  function change<T>(work: () => T): T {
    return transact(() => {
      const result = work();
      db.query('UPDATE generation SET value = value + 1').run();
      return result;
    });
  }

  return {
    migrate: async () => migrateSqlite(db),
    ready: async () => isReady(db),
    close: async () => db.close(),
    generation: async () => db.query<{ value: number }, []>('SELECT value FROM generation').get()?.value ?? 0,

    async ledger(steps) {
      applySteps ??= prepareLedger(db);
      const apply = applySteps;
      return transact(() => apply(steps));
    },
    holds: async (filter) => readHolds(db, filter?.owners),
    entries: async (account, page) => readEntries(db, account, page),
    verify: () => verifySqlite(path),

    createAccount: async (account) => insertAccount(db, account),
    account: async (idOrName) => readAccount(db, idOrName),
    accounts: async (page) => readAccounts(db, page),
    updateAccount: async (id, members) => change(() => changeAccount(db, id, members)),
    accountSpending: async (id, now) => readAccountSpending(db, id, now),

    createKey: async (key) => change(() => insertKey(db, key)),
    updateKey: async (id, members) => change(() => changeKey(db, id, members)),
    keyByHash: async (hash) => readKeyByHash(db, hash),
    keyById: async (id) => readKeyById(db, id),
    removeKey: async (id) => change(() => deleteKey(db, id)),
    keys: async (page) => readKeys(db, page),
    keySpending: async (id, now) => readKeySpending(db, id, now),

    savePrice: async (price) => change(() => insertPrice(db, price)),
    price: async (id) => readPrice(db, id),
    prices: async (page) => readPrices(db, page),
    saveProvider: async (provider) => change(() => saveProviderRow(db, provider)),
    providers: async () => readProviders(db),
    removeProvider: async (name) => change(() => deleteProvider(db, name)),
    saveModel: async (model) => change(() => saveModelRow(db, model)),
    models: async () => readModels(db),
    removeModel: async (name) => change(() => deleteModel(db, name)),

    audit: async (entry) => insertAudit(db, entry),
    audits: async (page) => readAudits(db, page),

    call: async (id) => readCallById(db, id),
    calls: async (filter) => readCalls(db, filter),
    usage: async (filter) => readUsage(db, filter),

    kept: keptTables(db, transact),

    heartbeat: async (owner, at) => transact(() => saveHeartbeat(db, owner, at)),
    deadOwners: async (aliveSince) => readDeadOwners(db, aliveSince),
  };
}

function openDatabase(path: string, sync: SqliteSync): Database {
  const db = new Database(path, { create: true });
  db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  db.run('PRAGMA journal_mode = WAL');
  db.run(`PRAGMA synchronous = ${sync.toUpperCase()}`);
  // Measured: a checkpoint every 4000 pages (16 MB) stalls the process for 20 ms once in 2500 calls; the default of 1000
  // for 6 ms once in 600.
  db.run('PRAGMA wal_autocheckpoint = 4000');
  db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  return db;
}

function isReady(db: Database): boolean {
  try {
    return schemaVersion(db) === SCHEMA_VERSION;
  } catch {
    return false;
  }
}
