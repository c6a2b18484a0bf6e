import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Usage } from '../canonical/usage.ts';
import { charge } from './charge.ts';

const usage = (members: Partial<Usage>): Usage => ({ input: 0, output: 0, source: 'reported', ...members });
/** Pico-USD per token: USD a million tokens times a million. */
const price = {
  input: 3_000_000n,
  cachedInput: 300_000n,
  cacheWrite: 3_750_000n,
  cacheWriteHour: 6_000_000n,
  output: 15_000_000n,
};

test('each token is charged once, at the rate of its share', () => {
  const used = usage({ input: 1000, cachedInput: 600, cacheWrite: 100, cacheWriteHour: 50, output: 10 });
  expect(charge(used, price)).toBe(250n * 3000n + 600n * 300n + 100n * 3750n + 50n * 6000n + 10n * 15000n);
});

test('a share without a rate of its own costs what its parent costs', () => {
  const used = usage({ input: 100, cachedInput: 40, audioInput: 10, cacheWriteHour: 5, output: 10, reasoning: 8 });
  expect(charge(used, { input: 1000n, output: 2000n })).toBe(120n);
  expect(charge(used, { input: 1000n, cacheWrite: 3000n })).toBe(110n);
});

test('shares that overlap never add up to more than the total', () => {
  expect(charge(usage({ input: 100, cachedInput: 80, audioInput: 80 }), { input: 1000n, audioInput: 1000n })).toBe(
    100n,
  );
});

test('one rounding, up, at the end', () => {
  expect(charge(usage({ input: 1 }), { input: 1n })).toBe(1n);
  expect(charge(usage({ input: 1, output: 1 }), { input: 400n, output: 400n })).toBe(1n);
  expect(charge(usage({ input: 1000 }), { input: 1n })).toBe(1n);
  expect(charge(usage({}), price)).toBe(0n);
});

test('per call, per picture, per second, per character', () => {
  const used = usage({ images: 2, seconds: 1.5, characters: 3 });
  expect(charge(used, { perCall: 5n, perImage: 100n, perSecond: 1000n, perCharacter: 2000n })).toBe(
    5n + 200n + 1500n + 6n,
  );
});

test('figures that are no numbers or below zero count as none', () => {
  expect(charge(usage({ input: Number.NaN, cachedInput: -5, output: -1 }), price)).toBe(0n);
  expect(charge(usage({ input: 1.5 }), { input: 1000n })).toBe(2n);
});

test('more of anything never costs less', () => {
  const count = fc.nat({ max: 1_000_000 });
  const any = fc.record({ input: count, cachedInput: count, cacheWrite: count, output: count, reasoning: count });
  fc.assert(
    fc.property(any, count, (members, more) => {
      const used = usage(members);
      expect(charge({ ...used, input: used.input + more }, price)).toBeGreaterThanOrEqual(charge(used, price));
      expect(charge({ ...used, output: used.output + more }, price)).toBeGreaterThanOrEqual(charge(used, price));
    }),
  );
});
