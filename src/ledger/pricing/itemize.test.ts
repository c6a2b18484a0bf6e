import { expect, test } from 'bun:test';
import { fc } from '../../../test/helpers/property.ts';
import { roundUp } from '../../canonical/money.ts';
import type { Price } from '../../canonical/price.ts';
import type { Usage } from '../../canonical/usage.ts';
import { charge } from './charge.ts';
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
