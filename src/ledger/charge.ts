/** What a call did cost: its usage times its price. */
import { type Money, type Pico, roundUp } from '../canonical/money.ts';
import type { Price } from '../canonical/price.ts';
import type { Usage } from '../canonical/usage.ts';

/** Pure; one rounding, up, at the end. */
export function charge(usage: Usage, price: Price): Money {
  const input = price.input ?? 0n;
  const output = price.output ?? 0n;
  const cacheWrite = price.cacheWrite ?? input;
  const pico =
    chargeTotal(usage.input, input, [
      [usage.cachedInput, price.cachedInput ?? input],
      [usage.cacheWrite, cacheWrite],
      [usage.cacheWriteHour, price.cacheWriteHour ?? cacheWrite],
      [usage.audioInput, price.audioInput ?? input],
      [usage.imageInput, price.imageInput ?? input],
    ]) +
    chargeTotal(usage.output, output, [
      [usage.reasoning, price.reasoning ?? output],
      [usage.audioOutput, price.audioOutput ?? output],
      [usage.imageOutput, price.imageOutput ?? output],
    ]) +
    units(usage.characters) * (price.perCharacter ?? 0n) +
    // Seconds may have fractions: thousandths of a second at nano-USD a second are pico-USD.
    units((usage.seconds ?? 0) * 1000) * (price.perSecond ?? 0n);
  return roundUp(pico) + (price.perCall ?? 0n) + units(usage.images) * (price.perImage ?? 0n);
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
