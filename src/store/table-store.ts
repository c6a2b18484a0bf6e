/** The part of the store that is the same for both engines, written in SQL that both understand. */

import type { BackupStore } from './backup/backup-store.ts';
import type { CredentialCipher } from './credential-cipher.ts';
import type { Database } from './database.ts';
import type { Store } from './store.ts';
import { overviewTable } from './sums/overview-table.ts';
import { usageTable } from './sums/usage-table.ts';
import { accountTable } from './tables/account-table.ts';
import { alertTables } from './tables/alert-tables.ts';
import { auditTable } from './tables/audit-table.ts';
import { bookTables, codeTable, ownerTable } from './tables/book-tables.ts';
import { callTable } from './tables/call-table.ts';
import { modelTable, priceGroupTable, priceTable } from './tables/catalog-tables.ts';
import { configFileTable } from './tables/config-file-table.ts';
import { hourlyFileTable } from './tables/hourly-file-table.ts';
import { keptTables } from './tables/kept-tables.ts';
import { keyTable } from './tables/key-table.ts';
import { peopleTable } from './tables/people-table.ts';
import { providerTable } from './tables/provider-table.ts';
import { failureTable, passkeyTable, sessionTable, tokenTable } from './tables/sign-in-tables.ts';
import { taskTable } from './tables/task-table.ts';
import { verificationTable } from './tables/verification-table.ts';

/** What each engine implements itself. */
type OwnMethod =
  | 'migrate'
  | 'schema'
  | 'ready'
  | 'close'
  | 'ledger'
  | 'batchesAtOnce'
  | 'verify'
  | 'repair'
  | 'begin'
  | 'register'
  | 'tidy'
  | keyof BackupStore;

export function tableStore(db: Database, cipher: CredentialCipher | undefined): Omit<Store, OwnMethod> {
  return {
    async generation() {
      const [row] = await db.all<{ value: bigint }>({ text: 'SELECT value FROM generation', values: [] });
      return Number(row?.value ?? 0n);
    },
    ...accountTable(db),
    ...keyTable(db),
    ...bookTables(db),
    ...codeTable(db),
    ...priceTable(db),
    ...priceGroupTable(db),
    ...providerTable(db, cipher),
    ...modelTable(db),
    ...auditTable(db),
    ...configFileTable(db),
    ...verificationTable(db),
    ...callTable(db),
    ...usageTable(db),
    ...overviewTable(db),
    ...ownerTable(db),
    alerts: alertTables(db, cipher),
    people: {
      ...peopleTable(db, cipher),
      ...sessionTable(db),
      ...passkeyTable(db),
      ...tokenTable(db),
      ...failureTable(db),
    },
    kept: keptTables(db),
    hourlyFiles: hourlyFileTable(db),
    tasks: taskTable(db),
  };
}
