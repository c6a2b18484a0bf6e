/** A price: what a model's units cost, as immutable data. The rules that use it stand in the ledger. */
import type { Money, Pico } from './money.ts';

/** Pico-USD per token; an absent rate is that of its parent (`cachedInput` as `input`). */
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
  /** Nano-USD; for each video, and for each search of a ranking whose provider counts them. */
  perCall?: Money;
  /** For each call of a tool that runs at the provider (a search …). */
  perToolCall?: Money;
  /** Once, where the provider ran any. */
  perToolUse?: Money;
  /** Where `images` has no price that fits. */
  perImage?: Money;
  /** Of each image handed over to be changed. */
  perInputImage?: Money;
  perSecond?: Money;
  perCharacter?: Pico;
  /** By size and quality. */
  images?: readonly PiecePrice[];
  /** Seconds of video, by size and quality. */
  clips?: readonly PiecePrice[];
  /** Rates of calls with long inputs, by rising `from`. */
  tiers?: readonly Tier[];
}

/** Rates that hold for the whole call, its output too, where its input has `from` tokens or more; those absent stay. */
export interface Tier extends TokenRates {
  from: number;
}

/** What one piece of this size and quality costs; an absent word fits all. */
export interface PiecePrice {
  size?: string;
  quality?: string;
  /** Nano-USD. */
  price: Money;
}
