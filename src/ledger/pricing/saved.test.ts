import { expect, test } from 'bun:test';
import { fc } from '../../../test/helpers/property.ts';
import type { Price } from '../../canonical/price.ts';
import type { Usage } from '../../canonical/usage.ts';
import { charge, savedBy } from './charge.ts';

/** Pico-USD per token: an input token costs 3000 nano-USD. */
const PRICE: Price = {
  input: 3_000_000n,
  cachedInput: 300_000n,
  cacheWrite: 3_750_000n,
  cacheWriteHour: 6_000_000n,
  output: 15_000_000n,
  perCacheHit: 500n,
};
const saved = (usage: Partial<Usage>, price = PRICE) => {
  const whole: Usage = { input: 1000, output: 10, source: 'reported', ...usage };
  return savedBy(whole, price, charge(whole, price));
};

test.each<[string, Partial<Usage>, bigint]>([
  ['nothing without a cache', {}, 0n],
  ['what cached input costs less', { cachedInput: 800 }, 800n * 2700n],
  ['less than nothing where a cache was only written', { cacheWrite: 800 }, -800n * 750n],
  ['both together', { cachedInput: 600, cacheWriteHour: 200 }, 600n * 2700n - 200n * 3000n],
  ['the whole cost of a call that was answered from the cache, minus its price', { source: 'cached' }, 3_149_500n],
  ['nothing more for what the stored reply had cached', { source: 'cached', cachedInput: 800 }, 3_149_500n],
])('it is %s', (_, usage, amount) => {
  expect(saved(usage)).toBe(amount);
});

test('a call that was answered from the cache saves its price by the call too', () => {
  expect(saved({ source: 'cached' }, { perCall: 7n })).toBe(7n);
  expect(saved({ source: 'cached' }, { perCall: 7n, perCacheHit: 9n })).toBe(-2n);
});

test('nothing is saved by a false report of cached input that costs nothing', () => {
  const input = Number.MAX_SAFE_INTEGER;
  // More than an integer of the database can hold.
  expect(saved({ input, cachedInput: input }, { ...PRICE, cachedInput: 0n })).toBe(0n);
  expect(saved({ source: 'cached', input }, PRICE)).toBe(0n);
});

test('the long input that selects a tier stays long without a cache', () => {
  const price: Price = { ...PRICE, tiers: [{ from: 900, input: 6_000_000n, cachedInput: 600_000n }] };
  expect(saved({ cachedInput: 800 }, price)).toBe(800n * 5400n);
});

test('with what was charged it is what the same tokens cost without a cache, to the nano-USD', () => {
  const count = fc.nat(2_000_000);
  const rate = fc.bigInt({ min: 0n, max: 10n ** 9n });
  fc.assert(
    fc.property(count, count, count, count, rate, rate, rate, (input, cachedInput, cacheWrite, output, ...rates) => {
      const [rateIn = 0n, rateCached = 0n, rateOut = 0n] = rates;
      const price = { input: rateIn, cachedInput: rateCached, output: rateOut };
      const usage: Usage = { input, cachedInput, cacheWrite, output, source: 'reported' };
      const charged = charge(usage, price);
      expect(charged + savedBy(usage, price, charged)).toBe(charge({ input, output, source: 'reported' }, price));
    }),
  );
});
