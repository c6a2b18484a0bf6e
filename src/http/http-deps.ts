/** Dependencies and settings of the HTTP edge. */
import type { Access } from '../access/access.ts';
import type { Alerts } from '../alerts/alerts.ts';
import type { AppliedFile, CatalogueChanges } from '../catalog/apply.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogueForm } from '../catalog/catalogue.ts';
import type { PriceBook } from '../catalog/price-book.ts';
import type { Memory } from '../conversations/conversations.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Files } from '../files/files.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Repricings } from '../ledger/repricing.ts';
import type { Verifier } from '../ledger/verifier.ts';
import type { People } from '../people/people.ts';
import type { ProviderRow } from '../store/catalog-rows.ts';
import type { Readiness } from '../store/readiness.ts';
import type { Store } from '../store/store.ts';
import type { VideoTasks } from '../tasks/video-tasks.ts';
import type { Captures } from '../telemetry/captures/captures.ts';
import type { Events } from '../telemetry/events.ts';
import type { LiveCalls } from '../telemetry/live-calls.ts';
import type { Metrics } from '../telemetry/metrics/metrics.ts';
import type { RefusedCalls } from '../telemetry/refused-calls.ts';
import type { JsonBounds } from './bodies/json-scan.ts';
import type { Pages } from './pages.ts';
import type { MetricsGate } from './routes/status/metrics-guard.ts';

export interface HttpDeps {
  gateway: Gateway;
  access: Access;
  ledger: Ledger;
  verifier: Verifier;
  prices: PriceBook;
  repricings: Repricings;
  catalog: Catalog;
  memory: Memory;
  store: Store;
  /** Absent: there is no console. */
  people?: People | undefined;
  /** The built pages of the console. */
  pages?: Pages | undefined;
  videos: VideoTasks;
  files: Files;
  /** The dialect of this name, or `undefined`. */
  dialect(name: string): Dialect | undefined;
  /**
   * Validates and saves providers and models in the form of `modelport.yaml`. Throws `invalid_request` with the name of the wrong member.
   * `actor`: the admin key.
   */
  apply(form: CatalogueForm, actor: string): Promise<CatalogueChanges>;
  /** The same for a file of this name. Reports what it changed and which other file's changes it reverted. */
  applyFile(form: CatalogueForm, name: string, key: string): Promise<AppliedFile>;
  /** The models that this provider lists; `undefined`: there is no address to ask. Never throws. */
  listModels(provider: ProviderRow, isSaved: boolean): Promise<ModelList> | undefined;
  /** Encrypts the providers' credentials with the newest key. If the key is in a file, a new one is made first. */
  rotateSecrets(): Promise<{ from: string; providers: number }>;
  /** Whether the process can take calls now. */
  readiness(): Promise<Readiness>;
  metrics: Pick<Metrics, 'answered' | 'called' | 'write'>;
  events: Events;
  alerts: Pick<Alerts, 'refresh' | 'test' | 'check'>;
  /** Stored requests and replies of calls. */
  captures: Pick<Captures, 'read'>;
  /** Calls that were refused and may not be in the store yet. */
  refusals: Pick<RefusedCalls, 'flush'>;
  /** Calls as they end in this process. */
  live: LiveCalls;
  settings: EdgeSettings;
  /** All settings in force, for operators. */
  shownSettings(): readonly { name: string; value?: string; source: string; isSecret: boolean; isSet: boolean }[];
  now(): number;
  /** Reports a problem that needs the operator's attention. */
  reportError(sentence: string, cause: unknown): void;
}

/** A model that a provider lists. All but `id` is from the price list. */
export interface ListedModel {
  id: string;
  kind?: string;
  /** In the form of modelport.yaml. */
  price?: { readonly [component: string]: unknown };
  contextTokens?: number;
  maxOutputTokens?: number;
}

export interface ModelList {
  models: ListedModel[];
  /** The provider lists more. */
  hasMore: boolean;
  /** Why there are no models, or not all. */
  problem?: { code: 'credential_refused' | 'unreachable' | 'no_list'; message: string };
}

interface EdgeSettings {
  /** Modelport's own version. */
  version: string;
  /** The largest request body in bytes, before and after decompression. */
  maxBodyBytes: number;
  /** Limits on the structure of JSON bodies. */
  jsonBounds: JsonBounds;
  /** Whether clients connect to the gateway by TLS. */
  isSecure: boolean;
  /** The public URL of the gateway. `undefined`: the host of the request. */
  publicUrl: string | undefined;
  /** Folder for uploaded files while their calls run. */
  uploadFolder: string;
  /** Addresses or CIDR ranges of proxies whose `x-forwarded-for` is trusted. */
  trustedProxies: readonly string[];
  /** Callers see the providers that their calls were sent to. */
  showAttempts: boolean;
  /** Who may read `/metrics`. */
  metrics: MetricsGate;
}
