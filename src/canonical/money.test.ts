import { expect, test } from 'bun:test';
import { fc } from '../../test/helpers/property.ts';
import { digitsOf, RateSum, readFactor, readMoney, readPricePerMillion, roundUp, writeMoney } from './money.ts';

test('a sum of counts at rates equals the bigint result, below and above the range of exact numbers', () => {
  const count = fc.oneof(fc.nat({ max: 2_000_000 }), fc.maxSafeNat(), fc.constantFrom(0, 1, 2 ** 53, 1e30));
  const rate = fc.oneof(fc.bigInt(0n, 100_000_000n), fc.bigInt(0n, 2n ** 70n), fc.constantFrom(0n, 1n, 2n ** 53n + 1n));
  fc.assert(
    fc.property(fc.array(fc.tuple(count, rate), { maxLength: 6 }), (items) => {
      const sum = new RateSum();
      let exact = 0n;
      for (const [many, each] of items) {
        sum.add(many, each);
        exact += BigInt(many) * each;
      }
      expect(sum.total()).toBe(roundUp(exact));
    }),
    { numRuns: 2000 },
  );
});

test('the sum is rounded up for every remainder, up to the largest safe integer', () => {
  for (const pico of [0, 1, 999, 1000, 1001, 2 ** 53 - 1001, 2 ** 53 - 992, 2 ** 53 - 1, 2 ** 53]) {
    const sum = new RateSum();
    sum.add(1, BigInt(pico));
    expect(sum.total()).toBe(roundUp(BigInt(pico)));
  }
});

test('a written amount is parsed as the same amount', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.bigInt(), fc.bigInt(-(10n ** 12n), 10n ** 12n), fc.bigInt(2n ** 53n - 9n, 2n ** 53n + 9n)),
      (amount) => {
        const text = writeMoney(amount);
        expect(text).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
        expect(readMoney(text)).toBe(amount);
        expect(digitsOf(amount)).toBe(String(amount));
      },
    ),
  );
  expect([5_000_000_000n, 1_500n, 0n, -1n].map(writeMoney)).toEqual(['5', '0.0000015', '0', '-0.000000001']);
});

test('a text of very many digits is no amount: reading it would take as long as the square of them', () => {
  for (const read of [readMoney, readPricePerMillion, readFactor])
    for (const text of ['9'.repeat(300), `1.${'0'.repeat(300)}`]) expect(read(text)).toBeUndefined();
  expect(readMoney(`${'0'.repeat(150)}5.${'0'.repeat(40)}`)).toBe(5_000_000_000n);
});
