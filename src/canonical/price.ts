/** A price: the cost of a model's units, as immutable data. The ledger has the rules that apply it. */
import type { Money, Pico } from './money.ts';

/** Pico-USD per token. An absent rate is that of its total (`cachedInput` as `input`). */
export interface TokenRates {
  input?: Pico;
  cachedInput?: Pico;
  cacheWrite?: Pico;
  cacheWriteHour?: Pico;
  output?: Pico;
  reasoning?: Pico;
  audioInput?: Pico;
  audioOutput?: Pico;
  imageInput?: Pico;
  imageOutput?: Pico;
}

export interface Price extends TokenRates {
  /** Nano-USD. Applied to each video, and to each search of a reranking call if the provider counts them. */
  perCall?: Money;
  /** Of a call that is answered from the cache, in the place of everything else. Absent: nothing. */
  perCacheHit?: Money;
  /** For each call of a provider tool (such as a search). */
  perToolCall?: Money;
  /** Charged once if the provider ran any tool. */
  perToolUse?: Money;
  /** The price if no row of `images` matches. */
  perImage?: Money;
  /** For each input image that is edited. */
  perInputImage?: Money;
  perSecond?: Money;
  perCharacter?: Pico;
  /** By size and quality. */
  images?: readonly PiecePrice[];
  /** Seconds of video, by size and quality. */
  clips?: readonly PiecePrice[];
  /** Rates for long inputs, by increasing `from`. */
  tiers?: readonly Tier[];
  /** Of a price group: what the whole charge is multiplied by, in millionths. Absent: list price. */
  factor?: bigint;
}

/** Rates of the whole call, output included, if its input has at least `from` tokens. Absent rates are unchanged. */
export interface Tier extends TokenRates {
  from: number;
}

/** The price of one image or second with this size and quality. An absent member matches all. */
export interface PiecePrice {
  size?: string;
  quality?: string;
  /** Nano-USD. */
  price: Money;
}
