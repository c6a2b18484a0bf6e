/** Dependencies and settings of tasks. */
import type { Access } from '../access/access.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Files } from '../files/files.ts';
import type { Ledger, ProcessStatus } from '../ledger/ledger.ts';
import type { Provider, Signing } from '../providers/provider.ts';
import type { Store } from '../store/store.ts';
import type { Events } from '../telemetry/events.ts';
import type { GuardedFetch } from '../transport/guarded-fetch.ts';
import type { Transport } from '../transport/transport.ts';

/** What the module needs. */
export interface TaskDeps {
  access: Access;
  catalog: Catalog;
  ledger: Ledger;
  store: Store;
  transport: Transport;
  files: Files;
  signing: Signing;
  guard: GuardedFetch;
  /** `undefined` if the provider type does not exist. */
  provider(type: string): Provider | undefined;
  settings: TaskSettings;
  /** The name of this process among those that share the tasks. */
  worker: string;
  /** Ids of the tasks in progress in this process. */
  inHand: Set<string>;
  /** What this machine knows of a worker's process. */
  processStatusOf(worker: string): ProcessStatus;
  /** Milliseconds since 1970. */
  now(): number;
  /** A random number in [0, 1). */
  random(): number;
  events: Events;
  reportError(sentence: string, cause: unknown): void;
}

/** Durations are in milliseconds. */
export interface TaskSettings {
  /** The model for requests that name none. Absent: a model is required. */
  defaultModel: string | undefined;
  /** How to treat requests for a quality that the price of the model does not cover. */
  unpricedExtras: 'refuse' | 'tools' | 'allow';
  /** The maximum duration of a task. */
  taskMs: number;
  /** The first poll interval, and the minimum of later ones; 0: the provider's default. */
  pollMs: number;
  /** How long files are kept. */
  keepMs: number;
  /** The maximum size of a stored result in bytes. */
  maxResultBytes: number;
}
