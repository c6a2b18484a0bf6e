/** What the way of a call passes through: the modules below, and the settings that concern it. */
import type { Access } from '../access/access.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Memory } from '../conversations/conversations.ts';
import type { VendorDialect } from '../dialects/dialect.ts';
import type { ImageShelf } from '../files/image-store.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Provider, Signing } from '../providers/provider.ts';
import type { CallRow } from '../store/store.ts';
import type { GuardedFetch } from '../transport/guarded-fetch.ts';
import type { TimeLimits } from '../transport/time-limits.ts';
import type { Transport } from '../transport/transport.ts';
import type { UnpricedExtras } from './extras.ts';
import type { CountTexts } from './meter.ts';

export interface GatewayDeps {
  access: Access;
  catalog: Catalog;
  ledger: Ledger;
  memory: Memory;
  transport: Transport;
  /** Fetches what clients name by address. */
  guard: GuardedFetch;
  /** Where images are kept for clients that want addresses; absent: they are given data URLs. */
  shelf: ImageShelf | undefined;
  /** `undefined` where the table has no such row. */
  provider(type: string): Provider | undefined;
  dialect(name: string): VendorDialect;
  /** What providers are given to sign with. */
  signing: Signing;

  /** Counts the tokens of delivered texts where the provider has reported nothing. */
  countTexts: CountTexts;
  settings: GatewaySettings;
  /** Milliseconds since 1970. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  /** One line a call; `lost`: how much its translation could not say; `cause`: what went wrong behind a failure, for the operator alone. */
  log(call: CallRow, lost: number, cause: unknown): void;
  /** Something an operator must look into. */
  reportError(sentence: string, cause: unknown): void;
}

export interface GatewaySettings {
  limits: TimeLimits;
  /** Silence towards the client after which something harmless is sent. */
  keepAliveMs: number;
  /** How long a call whose client has left may go on where the model says `drain`. */
  drainAfterDisconnectMs: number;
  /** The longest conversation that is put before a request. */
  maxRequestBytes: number;
  /** The largest whole answer taken from an upstream. */
  maxReplyBytes: number;
  /** Images a call may ask for, where its model does not say otherwise. */
  maxImages: number;
  /** What becomes of members that cost something for which a model has no price. */
  unpricedExtras: UnpricedExtras;
  /** What the media of a call may hold in all that are fetched for it. */
  maxMediaBytes: number;
}
