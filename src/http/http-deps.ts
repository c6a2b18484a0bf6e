/** What the edge is built from: the modules behind it, and the settings it obeys. */
import type { Access } from '../access/access.ts';
import type { AppliedFile, CatalogueChanges } from '../catalog/apply.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogueForm } from '../catalog/catalogue.ts';
import type { Memory } from '../conversations/conversations.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Files } from '../files/files.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Verifier } from '../ledger/verifier.ts';
import type { Readiness } from '../store/readiness.ts';
import type { Store } from '../store/store.ts';
import type { VideoTasks } from '../tasks/video-tasks.ts';
import type { JsonBounds } from './json-scan.ts';
import type { Metrics } from './routes/status/metrics.ts';
import type { MetricsGate } from './routes/status/metrics-guard.ts';

export interface HttpDeps {
  gateway: Gateway;
  access: Access;
  ledger: Ledger;
  verifier: Verifier;
  catalog: Catalog;
  memory: Memory;
  store: Store;
  videos: VideoTasks;
  files: Files;
  /** The dialect of this name; `undefined` where there is none. */
  dialect(name: string): Dialect | undefined;
  /** Checks and saves providers and models, written as `modelport.yaml` writes them. Throws `invalid_request`, naming the member.
   *  `actor`: the admin key that did it. */
  apply(form: CatalogueForm, actor: string): Promise<CatalogueChanges>;
  /** The same of a file of this name; says what it changed, and which other file it undid. */
  applyFile(form: CatalogueForm, name: string, key: string): Promise<AppliedFile>;
  /** Encrypts providers' credentials with the newest key; one that stands in a file is made anew before. */
  rotateSecrets(): Promise<{ from: string; providers: number }>;
  /** Whether a call could be taken now. */
  readiness(): Promise<Readiness>;
  metrics: Metrics;
  settings: EdgeSettings;
  now(): number;
  /** Something an operator must look into. */
  reportError(sentence: string, cause: unknown): void;
}

interface EdgeSettings {
  /** Modelport's own version. */
  version: string;
  /** The largest request body, before and after decompression. */
  maxBodyBytes: number;
  /** What a body of JSON may hold. */
  jsonBounds: JsonBounds;
  /** Clients speak TLS with the gateway itself. */
  isSecure: boolean;
  /** Where clients reach the gateway; `undefined`: where they asked. */
  publicUrl: string | undefined;
  /** Where files that clients send are put while their calls last. */
  uploadFolder: string;
  /** Addresses or CIDR ranges of proxies whose `x-forwarded-for` is believed. */
  trustedProxies: readonly string[];
  /** Who may read `/metrics`. */
  metrics: MetricsGate;
}
