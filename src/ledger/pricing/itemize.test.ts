import { expect, test } from 'bun:test';
import { fc } from '../../../test/helpers/property.ts';
import { readFactor, roundUp, timesFactor, writeFactor } from '../../canonical/money.ts';
import type { Price } from '../../canonical/price.ts';
import type { Usage } from '../../canonical/usage.ts';
import { charge, listCharge } from './charge.ts';
import { itemize } from './itemize.ts';

const count = fc.option(fc.integer({ min: 0, max: 5000 }), { nil: undefined });
const rate = fc.option(fc.bigInt({ min: 0n, max: 9_000_000n }), { nil: undefined });

const USAGE = fc.record({
  input: fc.integer({ min: 0, max: 5000 }),
  output: fc.integer({ min: 0, max: 5000 }),
  source: fc.constantFrom('reported', 'counted', 'cached'),
  cachedInput: count,
  cacheWrite: count,
  cacheWriteHour: count,
  audioInput: count,
  imageInput: count,
  reasoning: count,
  audioOutput: count,
  imageOutput: count,
  characters: count,
  seconds: fc.option(fc.double({ min: 0, max: 100, noNaN: true }), { nil: undefined }),
  images: count,
  inputImages: count,
  serverToolCalls: count,
  freeToolCalls: count,
  searches: count,
});

const PRICE = fc.record({
  input: rate,
  output: rate,
  cachedInput: rate,
  cacheWrite: rate,
  cacheWriteHour: rate,
  audioInput: rate,
  imageInput: rate,
  reasoning: rate,
  audioOutput: rate,
  imageOutput: rate,
  perCharacter: rate,
  perSecond: rate,
  perImage: rate,
  perInputImage: rate,
  perCall: rate,
  perToolCall: rate,
  perToolUse: rate,
  perCacheHit: rate,
});

const without = <T extends object>(members: T): T =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;

test('the components of a charge add up to it, whatever was used and whatever it costs', () => {
  fc.assert(
    fc.property(USAGE, fc.option(USAGE, { nil: undefined }), PRICE, (members, other, prices) => {
      const price = without(prices) as Price;
      const used = without(members) as Usage;
      const usage = other
        ? { ...used, hedge: { provider: 'p', targetModel: 'm', cost: '0', usage: without(other) as Usage } }
        : used;
      const { hedge: _, ...alone } = usage as Usage;
      const items = itemize(usage, price);
      for (const { quantity, rate: each, amount } of items) expect(amount).toBe(BigInt(quantity) * each);
      // Each request of a call is rounded by itself.
      const own = items.filter(({ component }) => !component.startsWith('hedge.'));
      expect(roundUp(own.reduce((sum, { amount }) => sum + amount, 0n))).toBe(charge(alone, price));
      const beside = items.filter(({ component }) => component.startsWith('hedge.'));
      if (used.source !== 'cached' && other)
        expect(roundUp(beside.reduce((sum, { amount }) => sum + amount, 0n))).toBe(
          charge(without(other) as Usage, price),
        );
    }),
  );
});

const factors = fc.bigInt({ min: 1n, max: 1_000_000_000n });

test('with the factor of a price group: the charge at list price times the factor, rounded up to the nano-USD, never less', () => {
  fc.assert(
    fc.property(USAGE, PRICE, factors, (used, at, factor) => {
      const usage = without(used) as Usage;
      const price = without(at) as Price;
      const list = charge(usage, price);
      const charged = charge(usage, { ...price, factor });
      // Exact: less than one nano-USD above the product, and never below it.
      expect(charged * 1_000_000n >= list * factor).toBe(true);
      expect((charged - 1n) * 1_000_000n < list * factor).toBe(true);
      expect(listCharge(usage, { ...price, factor })).toBe(list);
      expect(charge(usage, { ...price, factor: 1_000_000n })).toBe(list);
    }),
  );
});

test('a factor is read exactly, and written as it was read', () => {
  fc.assert(
    fc.property(factors, (factor) => {
      expect(readFactor(writeFactor(factor))).toBe(factor);
    }),
  );
  expect(readFactor('1.20')).toBe(1_200_000n);
  expect(writeFactor(1_200_000n)).toBe('1.2');
  for (const wrong of ['0', '-1', '1.2345678', '1000.1', 'x', '', '1e3']) expect(readFactor(wrong)).toBeUndefined();
});

test('what is held for a call covers its charge at every factor', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 18n }),
      fc.bigInt({ min: 0n, max: 10n ** 18n }),
      factors,
      (a, b, factor) => {
        const [less, more] = a < b ? [a, b] : [b, a];
        expect(timesFactor(less, factor) <= timesFactor(more, factor)).toBe(true);
        // A hold is taken in parts: each is rounded up by itself.
        expect(timesFactor(a + b, factor) <= timesFactor(a, factor) + timesFactor(b, factor)).toBe(true);
      },
    ),
  );
});
