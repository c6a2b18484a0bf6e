/** What a call did cost: its usage times its price. */
import { type Money, type Pico, roundUp } from '../canonical/money.ts';
import type { Price } from '../canonical/price.ts';
import type { Usage } from '../canonical/usage.ts';
import { pricePiece, ratesFor } from './rates.ts';

/** Of a picture whose tokens nobody has counted: what Gemini says of one of a megapixel. */
const IMAGE_TOKENS = 1290;
const PICO_PER_NANO = 1000n;

/** Pure; one rounding, up, at the end. */
export function charge(usage: Usage, price: Price): Money {
  const rates = ratesFor(price, usage.largestInput ?? usage.input);
  const input = rates.input ?? 0n;
  const output = rates.output ?? 0n;
  const cacheWrite = rates.cacheWrite ?? input;
  const pico =
    chargeTotal(usage.input, input, [
      [usage.cachedInput, rates.cachedInput ?? input],
      [usage.cacheWrite, cacheWrite],
      [usage.cacheWriteHour, rates.cacheWriteHour ?? cacheWrite],
      [usage.audioInput, rates.audioInput ?? input],
      [usage.imageInput, rates.imageInput ?? input],
    ]) +
    chargeTotal(usage.output, output, [
      [usage.reasoning, rates.reasoning ?? output],
      [usage.audioOutput, rates.audioOutput ?? output],
      [usage.imageOutput, rates.imageOutput ?? output],
    ]) +
    units(usage.characters) * (price.perCharacter ?? 0n) +
    // Seconds may have fractions: thousandths of a second at nano-USD a second are pico-USD.
    units((usage.seconds ?? 0) * 1000) * pricePiece(price.clips, price.perSecond, usage);
  const handedOver = units(usage.inputImages) * (price.perInputImage ?? 0n);
  return roundUp(pico + chargePictures(usage, price)) + handedOver + calls(usage) * (price.perCall ?? 0n);
}

/** By the piece; where the model has no such price and nobody has counted their tokens, by the tokens they may have. */
function chargePictures(usage: Usage, price: Price): Pico {
  const pictures = units(usage.images);
  if (pictures === 0n) return 0n;
  const each = pricePiece(price.pictures, price.perImage, usage);
  if (each > 0n || usage.source !== 'counted' || price.imageOutput === undefined)
    return pictures * each * PICO_PER_NANO;
  return pictures * BigInt(IMAGE_TOKENS) * price.imageOutput;
}

/** Several videos are several calls, and so is a ranking of many documents where its vendor counts it so. */
function calls({ searches, videos }: Usage): bigint {
  const counted = units(searches ?? videos);
  return counted > 1n ? counted : 1n;
}

type Share = readonly [count: number | undefined, rate: Pico];

/**
 * Each share at its own rate and what is left of the total at the total's. A share is never larger than what the shares
 * before it left: where a vendor counts cached audio under both words, each token is still charged once.
 */
function chargeTotal(total: number, rate: Pico, shares: readonly Share[]): Pico {
  let left = units(total);
  let pico = 0n;
  for (const [count, shareRate] of shares) {
    if (!count) continue;
    let share = units(count);
    if (share > left) share = left;
    left -= share;
    pico += share * shareRate;
  }
  return pico + left * rate;
}

/** A vendor's figure as a whole number of units: what is no number, or below zero, is none. */
function units(count: number | undefined): bigint {
  return count !== undefined && count > 0 && Number.isFinite(count) ? BigInt(Math.ceil(count)) : 0n;
}
