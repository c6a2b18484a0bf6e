/** What the gateway uses: the modules below it, and its settings. */
import type { Access } from '../access/access.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Memory } from '../conversations/conversations.ts';
import type { ProviderDialect } from '../dialects/dialect.ts';
import type { ImageStore } from '../files/image-store.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Provider, Signing } from '../providers/provider.ts';
import type { Captures } from '../telemetry/captures/captures.ts';
import type { Events } from '../telemetry/events.ts';
import type { GuardedFetch } from '../transport/guarded-fetch.ts';
import type { TimeLimits } from '../transport/time-limits.ts';
import type { Transport } from '../transport/transport.ts';
import type { UnpricedExtras } from './admit/extras.ts';
import type { CountTexts } from './settle/meter.ts';

export interface GatewayDeps {
  access: Access;
  catalog: Catalog;
  ledger: Ledger;
  memory: Memory;
  transport: Transport;
  /** Fetches what clients name by URL, from addresses that are allowed. */
  guard: GuardedFetch;
  /** Where images are stored for clients that want URLs; absent: clients get data URLs. */
  imageStore: ImageStore | undefined;
  /** `undefined`: there is no provider of this type. */
  provider(type: string): Provider | undefined;
  dialect(name: string): ProviderDialect;
  /** The time and the access tokens that providers sign requests with. */
  signing: Signing;

  /** Counts the tokens of delivered texts where the provider reports nothing. */
  countTexts: CountTexts;
  settings: GatewaySettings;
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `over` after so many milliseconds, unless what it returns is called before; absent: by the process's own timers. */
  wait?: ((ms: number, over: () => void) => () => void) | undefined;
  /** In [0, 1). */
  random(): number;
  /** Stores requests and replies of calls if their key or model is configured for it; absent: none. */
  captures?: Pick<Captures, 'begin'> | undefined;
  /** Receives what happens to calls. */
  events: Events;
  /** Reports something that an operator must look into. */
  reportError(sentence: string, cause: unknown): void;
}

export interface GatewaySettings {
  /** Whether callers may see which provider answered. */
  showProvider: boolean;
  limits: TimeLimits;
  /** A stream that was sent nothing for so long is sent a keep-alive. */
  keepAliveMs: number;
  /** How long a call continues after its client has disconnected, if the model is configured with `drain`. */
  drainAfterDisconnectMs: number;
  /** The largest stored conversation that a request may continue. */
  maxRequestBytes: number;
  /** The largest non-streaming answer accepted from an upstream. */
  maxReplyBytes: number;
  /** How many images a call may request, unless its model has a limit of its own. */
  maxImages: number;
  /** What happens to request members that cost something the model has no price for. */
  unpricedExtras: UnpricedExtras;
  /** The total size of the media that may be fetched for one call. */
  maxMediaBytes: number;
}
