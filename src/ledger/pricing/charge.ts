/** Computes the cost of a call: usage times price. */
import { type Money, type Pico, RateSum, timesFactor } from '../../canonical/money.ts';
import type { Price, Tier, TokenRates } from '../../canonical/price.ts';
import type { Usage } from '../../canonical/usage.ts';
import { pricePiece } from './pieces.ts';

/** Tokens assumed for an image without reported tokens: Gemini's figure for one megapixel. */
const IMAGE_TOKENS = 1290;
const PICO_PER_NANO = 1000n;

/** A provider's report above this is wrong, and the call is charged its hold. */
export const MAXIMUM_CALL_COST: Money = 10_000_000n * 10n ** 9n;

/**
 * What is recorded beside the charge is limited by no hold: a call that costs nothing may have any report. Ten thousand USD are far above
 * any real call, and the sum of 900,000 such reports is still an integer of the database.
 */
export const MAXIMUM_BESIDE_CHARGE: Money = 10_000n * 10n ** 9n;

/** A pure function. Rounds the charge at list price up to the nano-USD, and that times the factor of a price group again. */
export function charge(usage: Usage, price: Price): Money {
  const atList = listCharge(usage, price);
  return price.factor === undefined ? atList : timesFactor(atList, price.factor);
}

/** Without the factor of a price group. Rounds up once, at the end. */
export function listCharge(usage: Usage, price: Price): Money {
  if (usage.source === 'cached') return price.perCacheHit ?? 0n;
  const rates = ratesFor(price, usage.largestInput ?? usage.input);
  const { input = 0n, output = 0n } = rates;
  const cacheWrite = rates.cacheWrite ?? input;
  const sum = new RateSum();
  let left = units(usage.input);
  left = addShare(sum, left, usage.cachedInput, rates.cachedInput ?? input);
  left = addShare(sum, left, usage.cacheWrite, cacheWrite);
  left = addShare(sum, left, usage.cacheWriteHour, rates.cacheWriteHour ?? cacheWrite);
  left = addShare(sum, left, usage.audioInput, rates.audioInput ?? input);
  left = addShare(sum, left, usage.imageInput, rates.imageInput ?? input);
  sum.add(left, input);
  left = units(usage.output);
  left = addShare(sum, left, usage.reasoning, rates.reasoning ?? output);
  left = addShare(sum, left, usage.audioOutput, rates.audioOutput ?? output);
  left = addShare(sum, left, usage.imageOutput, rates.imageOutput ?? output);
  sum.add(left, output);
  if (price.perCharacter !== undefined) sum.add(units(usage.characters), price.perCharacter);
  // Seconds may be fractional: milliseconds times nano-USD per second are pico-USD.
  if (usage.seconds) sum.add(units(usage.seconds * 1000), pricePiece(price.clips, price.perSecond, usage));
  if (usage.images) addImages(sum, usage, price);
  let cost = sum.total();
  if (price.perInputImage !== undefined) cost += BigInt(units(usage.inputImages)) * price.perInputImage;
  if (price.perCall !== undefined) cost += BigInt(countedCalls(usage)) * price.perCall;
  if (usage.serverToolCalls !== undefined) cost += chargeTools(usage, price);
  if (usage.hedge) cost += listCharge(usage.hedge.usage, price);
  return cost;
}

/**
 * Adds a share of the remaining total at its own rate, and returns what remains. A share is limited to the remainder: if a provider reports
 * cached audio as both cached and audio, each token is still charged once.
 */
function addShare(sum: RateSum, left: number, count: number | undefined, rate: Pico): number {
  if (!count) return left;
  const share = Math.min(units(count), left);
  sum.add(share, rate);
  return left - share;
}

/** By the image; if the model has no such price and no tokens were reported, by estimated tokens. */
function addImages(sum: RateSum, usage: Usage, price: Price): void {
  const { quantity, rate } = chargedImages(usage, price);
  sum.add(quantity, rate);
}

/**
 * How many images are charged, and the rate of each in pico-USD. Without a price per image, a counted image costs a fixed number of output
 * tokens.
 */
export function chargedImages(usage: Usage, price: Price): { quantity: number; rate: Pico } {
  const quantity = units(usage.images);
  const each = pricePiece(price.images, price.perImage, usage);
  if (each > 0n || usage.source !== 'counted' || price.imageOutput === undefined)
    return { quantity, rate: each * PICO_PER_NANO };
  return { quantity, rate: BigInt(IMAGE_TOKENS) * price.imageOutput };
}

/** Tool calls at the provider, without those that are free there. Never negative. */
export function chargedToolCalls({ serverToolCalls, freeToolCalls }: Usage): number {
  return Math.max(0, units(serverToolCalls) - units(freeToolCalls));
}

function chargeTools(usage: Usage, { perToolCall = 0n, perToolUse = 0n }: Price): Money {
  const charged = chargedToolCalls(usage);
  return charged === 0 ? 0n : BigInt(charged) * perToolCall + perToolUse;
}

/** Several videos count as several calls; so do the searches of a reranking call, if the provider counts them. */
export function countedCalls({ searches, videos }: Usage): number {
  return Math.max(1, units(searches ?? videos));
}

/** A provider's figure as a whole number of units. Invalid and negative figures become 0. */
export function units(count: number | undefined): number {
  return count !== undefined && count > 0 && Number.isFinite(count) ? Math.ceil(count) : 0;
}

/** The rates for a call with this number of input tokens. */
export function ratesFor(price: Price, input: number): TokenRates {
  return price.tiers ? tieredRates(price, price.tiers, input) : price;
}

function tieredRates(price: Price, tiers: readonly Tier[], input: number): TokenRates {
  const tier = tiers.findLast(({ from }) => input >= from);
  return tier ? { ...price, ...tier } : price;
}

/**
 * What caches have saved of a call, those of the provider and the gateway's own: what the same tokens cost at the same price if none of them is read from or written to a cache, minus what was charged. Negative
 * where writing a cache cost more than reading it saved. 0 where there was no cache, and where the tokens cannot be true.
 */
export function savedBy(usage: Usage, price: Price, charged: Money): Money {
  const { source, cachedInput, cacheWrite, cacheWriteHour } = usage;
  if (source !== 'cached' && !cachedInput && !cacheWrite && !cacheWriteHour) return 0n;
  const uncached = charge({ ...usage, source: 'reported', cachedInput: 0, cacheWrite: 0, cacheWriteHour: 0 }, price);
  return uncached > MAXIMUM_BESIDE_CHARGE ? 0n : uncached - charged;
}
