/** What tasks are made of: the modules below, and the settings that concern them. */
import type { Access } from '../access/access.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Files } from '../files/files.ts';
import type { Ledger, ProcessStatus } from '../ledger/ledger.ts';
import type { Provider, Signing } from '../providers/provider.ts';
import type { CallRow, Store } from '../store/store.ts';
import type { GuardedFetch } from '../transport/guarded-fetch.ts';
import type { Transport } from '../transport/transport.ts';

export interface TaskDeps {
  access: Access;
  catalog: Catalog;
  ledger: Ledger;
  store: Store;
  transport: Transport;
  files: Files;
  signing: Signing;
  guard: GuardedFetch;
  /** `undefined` where the table has no such row. */
  provider(type: string): Provider | undefined;
  settings: TaskSettings;
  /** Names this process among those that share the tasks. */
  worker: string;
  /** Ids of the tasks in this process's hands. */
  inHand: Set<string>;
  /** What this machine knows of a worker. */
  processStatusOf(worker: string): ProcessStatus;
  /** Milliseconds since 1970. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  log(call: CallRow): void;
  reportError(sentence: string, cause: unknown): void;
}

export interface TaskSettings {
  /** The model where a client names none; absent: it must. */
  defaultModel: string | undefined;
  /** What becomes of an order that is made better than the price of its model says. */
  unpricedExtras: 'refuse' | 'tools' | 'allow';
  /** How long a task may take. */
  taskMs: number;
  /** When a task is first polled, and the least pause after that; 0: when it suits its provider. */
  pollMs: number;
  /** How long its files are kept. */
  keepMs: number;
  /** The largest result kept. */
  maxResultBytes: number;
}
