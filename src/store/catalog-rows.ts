/** Providers, models and their prices. */
import type { CaptureMode } from '../canonical/capture-mode.ts';
import type { FallbackReason } from '../canonical/errors.ts';
import type { Audit } from './rows.ts';

export interface ProviderRow {
  name: string;
  type: string;
  baseUrl?: string;
  credentials: string[];
  settings: { [name: string]: string };
  /** Calls at once and tokens per minute with each credential; absent: not limited. */
  concurrency?: number;
  tokensPerMinute?: number;
  /** How long a call waits for a place. */
  queueMs?: number;
}

export interface TargetRow {
  provider: string;
  model: string;
  priority: number;
  weight: number;
  /** What a call costs the operator there: a Price as JSON text. */
  cost?: string;
  /** What the target takes and keeps; absent: not known. */
  inputs?: string[];
  tools?: boolean;
  structuredOutput?: boolean;
  contextTokens?: number;
  dataPolicy?: string;
}

export interface FallbackRow {
  model: string;
  on: FallbackReason[];
}

export interface ModelRow {
  /** One that ends in `*` stands for all names beginning so. */
  name: string;
  /** Other names of the model. */
  aliases?: string[];
  /** Models that answer where this one cannot, in order. */
  fallbacks?: FallbackRow[];
  kind: string;
  /** The price version until the first of `scheduled` applies. */
  priceId: string;
  /** By increasing `from`; absent: none. */
  scheduled?: ScheduledPrice[];
  maxOutputTokens?: number;
  contextTokens?: number;
  /** The maximum of images per call, if it differs from the default. */
  maxImages?: number;
  displayName?: string;
  ownedBy: string;
  /** What happens to the call at the provider when the client disconnects. */
  onDisconnect: 'abort' | 'drain';
  /**
   * `buffer`: a stream is sent when it is complete, so that another target may replace one that breaks off. `prefill`: another target goes
   * on from what was sent. Absent: as it comes.
   */
  continuation?: 'buffer' | 'prefill';
  createdAt: number;
  targets: TargetRow[];
  /** How a target is chosen among those of a priority; absent: by weight. */
  strategy?: string;
  /** Tries more at the same target. */
  retries?: number;
  /** Whether conversations stay with their target; absent: they do. */
  affinity?: 'on' | 'off';
  /** How long a target may take to its first token while another is free. */
  firstTokenMs?: number;
  /** A second target is called if the first is slow; absent: no. */
  hedge?: 'on';
  /** What is stored of its calls; absent: nothing. */
  capture?: CaptureMode;
}

/**
 * A price version. Immutable. `components` is a Price as JSON text. An id `ID*FACTOR` names the version `ID` at a factor of a price group: it
 * has no row of its own.
 */
export interface PriceRow {
  id: string;
  model: string;
  components: string;
  createdAt: number;
  /** Applies to calls from this time on. Absent: from its creation. */
  effectiveAt?: number;
  /** The price file that it was adopted from. */
  source?: string;
}

/** A price version that replaces the one before at a time. */
export interface ScheduledPrice {
  priceId: string;
  from: number;
}

/** Accounts that pay list prices times a factor. */
export interface PriceGroupRow {
  name: string;
  /** A decimal above zero, with at most six places: `1.2`. */
  factor: string;
  createdAt: number;
}

/** A change of one model, on its row as it is. */
export interface ModelChange {
  name: string;
  /** The row from what it is now; `undefined`: there is none. If it throws, nothing of the transaction is kept. It may run again. */
  change(row: ModelRow | undefined): ModelRow;
  /** A price version that is saved with it. */
  price?: PriceRow;
  audit?: Audit<ModelRow> | undefined;
}
