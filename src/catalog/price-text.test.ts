import { expect, test } from 'bun:test';
import { readComponents, readPeoplesPrice, writeComponents, writePeoplesPrice } from './price-text.ts';

function price(form: unknown) {
  const read = readPeoplesPrice(form, 'price');
  if ('fault' in read) throw new Error(read.fault);
  return read.price;
}

function fault(form: unknown): string {
  const read = readPeoplesPrice(form, 'price');
  if ('price' in read) throw new Error('it was read');
  return read.fault;
}

test('numbers and strings are exact decimals', () => {
  expect(price({ input: 0.15, cachedInput: '0.075', output: 0.6 })).toEqual({
    input: 150_000n,
    cachedInput: 75_000n,
    output: 600_000n,
  });
  // 0.1 + 0.2 is 0.30000000000000004: too fine for a price, and it must not be rounded silently.
  expect(fault({ input: 0.1 + 0.2, output: 1 })).toBe(
    'price.input must be USD per million tokens, with at most 6 decimals, zero or more (0.15 or "0.15")',
  );
});

test('a small number is parsed although JavaScript writes it with an exponent', () => {
  expect(price({ perCall: 1.5e-7 })).toEqual({ perCall: 150n });
  expect(price({ perSecond: 1e-9, input: 0.000001 })).toEqual({ perSecond: 1n, input: 1n });
  expect(fault({ perCall: 1e-10 })).toContain('price.perCall must be USD per call, with at most 9 decimals');
  expect(fault({ perCall: 1e21 })).toContain('price.perCall must be');
});

test('each unit has its scale', () => {
  expect(price({ perCall: 1, perImage: '0.04', perSecond: 0.1, perMillionCharacters: 15 })).toEqual({
    perCall: 1_000_000_000n,
    perImage: 40_000_000n,
    perSecond: 100_000_000n,
    perCharacter: 15_000_000n,
  });
});

test.each([
  [{ input: -1 }, 'price.input must be'],
  [{ input: 'cheap' }, 'price.input must be'],
  [{ input: Number.NaN }, 'price.input must be'],
  [{ input: true }, 'price.input must be'],
  [{ inputs: 1 }, 'price.inputs is not a member of a price: the members are input, cachedInput'],
  [[], 'price must be an object'],
  ['0.15', 'price must be an object'],
] as [unknown, string][])('%j is refused', (form, sentence) => {
  expect(fault(form)).toStartWith(sentence);
});

test('what is written can be parsed again, in both forms', () => {
  const whole = price({
    input: '0.15',
    cachedInput: 0.075,
    cacheWrite: 1.25,
    cacheWriteHour: 2,
    output: 0,
    reasoning: 1,
    audioInput: 2,
    audioOutput: 3,
    imageInput: 4,
    imageOutput: 5,
    perCall: '0.000000001',
    perImage: 6,
    perSecond: 7,
    perMillionCharacters: 8,
  });
  expect(price(writePeoplesPrice(whole))).toEqual(whole);
  expect(readComponents(writeComponents(whole))).toEqual(whole);
  expect(writePeoplesPrice(price({ output: '0.600', input: 0.15 }))).toEqual({ input: '0.15', output: '0.6' });
});

test('equal prices give equal text, in whatever order they were written', () => {
  expect(writeComponents(price({ output: 1, input: '2.0' }))).toBe(
    writeComponents(price({ input: 2, output: '1.00' })),
  );
});

test('an invalid price row is refused, not treated as free', () => {
  expect(() => readComponents('[]')).toThrow();
  expect(() => readComponents('')).toThrow();
});

const TIERED = {
  input: '2',
  output: '12',
  tiers: [
    { from: 200_001, input: '4', output: '18' },
    { from: 500_000, cachedInput: '0.4' },
  ],
};
const PIECES = {
  perImage: [{ price: '0.04' }, { size: '1024x1024', quality: 'high', price: '0.167' }],
  perSecond: [
    { size: '1280x720', price: '0.1' },
    { size: '1792x1024', price: '0.3' },
  ],
};

test.each([[TIERED], [PIECES]])('tiers and image prices are returned as written: %j', (form) => {
  const read = price(form);
  expect(writePeoplesPrice(read)).toEqual(form);
  expect(readComponents(writeComponents(read))).toEqual(read);
  expect(price(writePeoplesPrice(readComponents(writeComponents(read))))).toEqual(read);
});

test('tiers are sorted by length, and a list has a default price', () => {
  const turned = price({ ...TIERED, tiers: TIERED.tiers.toReversed() });
  expect(writeComponents(turned)).toBe(writeComponents(price(TIERED)));
  expect(price(PIECES)).toMatchObject({ perImage: 40_000_000n, perSecond: 300_000_000n });
});

test.each([
  [{ tiers: [] }, 'price.tiers must be a list'],
  [{ tiers: [{ input: 1 }] }, 'price.tiers[0].from must be'],
  [{ tiers: [{ from: 1, perCall: 1 }] }, 'price.tiers[0].perCall is not a member of a tier'],
  [{ tiers: [{ from: 5 }, { from: 5 }] }, 'price.tiers must have one tier from 5 tokens on'],
  [{ tiers: [{ from: 5, input: -1 }] }, 'price.tiers[0].input must be USD'],
  [{ perImage: [] }, 'price.perImage must have at least one price'],
  [{ perImage: [{ size: 5, price: 1 }] }, 'price.perImage[0].size must be a string'],
  [{ perImage: [{ size: 'a' }] }, 'price.perImage[0].price must be USD'],
  [{ perCall: [{ price: 1 }] }, 'price.perCall must be USD'],
])('%j is refused with an error', (form, sentence) => {
  const read = readPeoplesPrice(form, 'price');
  expect('fault' in read && read.fault).toStartWith(sentence);
});

test('prices per image are stored under the name of the first version', () => {
  const stored = '{"pictures":[["1024x1024","high","40000000000"],[null,null,"5000000000"]]}';
  const price = readComponents(stored);
  expect(price.images?.map((piece) => piece.price)).toEqual([40_000_000_000n, 5_000_000_000n]);
  expect(writeComponents(price)).toBe(stored);
});
