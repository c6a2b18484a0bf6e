/** A price: what a model's units cost, as immutable data. The rules that use it stand in the ledger. */
import type { Money, Pico } from './money.ts';

/** Pico-USD per token unless said otherwise; an absent component is charged as its parent (`cachedInput` as `input`). */
export interface Price {
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
  /** Nano-USD. */
  perCall?: Money;
  perImage?: Money;
  perSecond?: Money;
  perCharacter?: Pico;
}
