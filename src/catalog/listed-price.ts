/** How list prices are written down: what a model costs, and where that was read. */
import type { Kind } from '../canonical/call.ts';

/** Name, price in USD per million tokens, most output tokens (undefined: the provider names no bound), context tokens. */
export type Listed = readonly [
  name: string,
  price: ListedPrice,
  maxOutputTokens: number | undefined,
  contextTokens: number,
];

export interface ListedPrice {
  input: string;
  cachedInput?: string;
  cacheWrite?: string;
  cacheWriteHour?: string;
  output: string;
  audioInput?: string;
  audioOutput?: string;
  /** Of calls with long inputs, for all their tokens. */
  tiers?: readonly ({ from: number } & Partial<Omit<ListedPrice, 'tiers'>>)[];
}

/** What a model that does not converse costs: USD per million tokens or characters, per image, per second, per call. */
export type MediaPrice = Partial<Omit<ListedPrice, 'tiers'>> & {
  imageInput?: string;
  imageOutput?: string;
  perImage?: string | readonly { size?: string; price: string }[];
  perInputImage?: string;
  perSecond?: string | readonly { size?: string; price: string }[];
  perMillionCharacters?: string;
  perCall?: string;
};

/** What tools at the provider cost, of the chat models that `of` names: USD for each call, or once where any was made. */
export interface ToolPrices extends Sourced {
  of?: RegExp;
  perToolCall?: string;
  perToolUse?: string;
}

/** Where prices are from. What no source confirms has no price: such a model is refused, not free. */
export interface Sourced {
  /** What was read: the provider's page, or the table of somebody else. */
  source: string;
  /** Somebody else with the same figures. */
  agrees?: string;
  /** The day whose prices these are; the day of reading, where the source bears none. */
  asOf: string;
}

/** Models of another kind, whose prices are of a day and a page of their own. */
export interface MediaPrices extends Sourced {
  kind: Exclude<Kind, 'chat'>;
  models: readonly (readonly [name: string, price: MediaPrice])[];
}
