import { describe, expect, test } from 'bun:test';
import { fc } from '../../../test/helpers/property.ts';
import { addUsage, type Usage } from '../../canonical/usage.ts';
import { charge } from './charge.ts';

const usage = (members: Partial<Usage>): Usage => ({ input: 0, output: 0, source: 'reported', ...members });
/** Pico-USD per token: USD per million tokens, times a million. */
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

test('tokens that OpenRouter reports as both written and read cost what it states: 7 tokens, 2,161 read and 2,161 written', () => {
  const used = usage({ input: 7 + 2161 + 2161, cachedInput: 2161, cacheWrite: 2161 });
  expect(charge(used, price)).toBe(7n * 3000n + 2161n * 300n + 2161n * 3750n);
});

test('a share without its own rate costs the rate of the total', () => {
  const used = usage({ input: 100, cachedInput: 40, audioInput: 10, cacheWriteHour: 5, output: 10, reasoning: 8 });
  expect(charge(used, { input: 1000n, output: 2000n })).toBe(120n);
  expect(charge(used, { input: 1000n, cacheWrite: 3000n })).toBe(110n);
});

test('overlapping shares never exceed the total', () => {
  expect(charge(usage({ input: 100, cachedInput: 80, audioInput: 80 }), { input: 1000n, audioInput: 1000n })).toBe(
    100n,
  );
});

test('the sum is rounded up once', () => {
  expect(charge(usage({ input: 1 }), { input: 1n })).toBe(1n);
  expect(charge(usage({ input: 1, output: 1 }), { input: 400n, output: 400n })).toBe(1n);
  expect(charge(usage({ input: 1000 }), { input: 1n })).toBe(1n);
  expect(charge(usage({}), price)).toBe(0n);
});

test('prices per call, image, second and character are charged', () => {
  const used = usage({ images: 2, seconds: 1.5, characters: 3 });
  expect(charge(used, { perCall: 5n, perImage: 100n, perSecond: 1000n, perCharacter: 2000n })).toBe(
    5n + 200n + 1500n + 6n,
  );
});

test('invalid and negative figures count as zero', () => {
  expect(charge(usage({ input: Number.NaN, cachedInput: -5, output: -1 }), price)).toBe(0n);
  expect(charge(usage({ input: 1.5 }), { input: 1000n })).toBe(2n);
});

test('more usage never costs less', () => {
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

describe('tiers by the length of the input', () => {
  // Gemini 3.1 Pro, USD per million tokens: 2 and 12, cached 0.2; above 200,000 input tokens 4 and 18, cached 0.4.
  const pro = {
    input: 2_000_000n,
    cachedInput: 200_000n,
    output: 12_000_000n,
    tiers: [{ from: 200_001, input: 4_000_000n, cachedInput: 400_000n, output: 18_000_000n }],
  };

  test('at the threshold the lower tier applies, one token above it the whole call has the higher rates', () => {
    // 150,000 x 2 + 50,000 x 0.2 + 1,000 x 12 = 0.322 USD; 150,001 x 4 + 50,000 x 0.4 + 1,000 x 18 = 0.638004 USD.
    expect(charge(usage({ input: 200_000, cachedInput: 50_000, output: 1000 }), pro)).toBe(322_000_000n);
    expect(charge(usage({ input: 200_001, cachedInput: 50_000, output: 1000 }), pro)).toBe(638_004_000n);
  });

  test('a rate that the tier does not name stays, and the highest reached tier applies', () => {
    const price = { ...pro, reasoning: 1_000_000n, tiers: [...pro.tiers, { from: 500_000, input: 9_000_000n }] };
    expect(charge(usage({ input: 600_000, output: 10, reasoning: 10 }), price)).toBe(600_000n * 9000n + 10n * 1000n);
  });

  test('several upstream calls select the tier by the largest, not by the sum', () => {
    const one = usage({ input: 150_000, output: 1000 });
    expect(charge(addUsage(one, one), pro)).toBe(2n * charge(one, pro));
  });
});

describe('prices per image by size and quality', () => {
  // gpt-image-1, USD per image.
  const price = {
    perImage: 11_000_000n,
    images: [
      { price: 11_000_000n },
      { size: '1024x1024', price: 42_000_000n },
      { quality: 'high', price: 250_000_000n },
      { size: '1024x1024', quality: 'high', price: 167_000_000n },
    ],
  };
  test.each([
    [{}, 11_000_000n],
    [{ size: '1024x1024' }, 42_000_000n],
    [{ size: '512x512', quality: 'high' }, 250_000_000n],
    [{ size: '1024x1024', quality: 'low' }, 42_000_000n],
    [{ size: '1024x1024', quality: 'high' }, 167_000_000n],
    [{ size: '1x1', quality: 'unknown' }, 11_000_000n],
  ])('%j', (made, each) => {
    expect(charge(usage({ images: 3, ...made }), price)).toBe(3n * each);
  });

  test('without a matching price the most expensive one applies, so nothing is free by mistake', () => {
    const sized = { images: price.images.slice(1) };
    expect(charge(usage({ images: 1, size: '1x1' }), sized)).toBe(250_000_000n);
  });

  test('prices per second of video by size', () => {
    // Sora 2 Pro, USD per second: 0.30 for 1280x720, 0.50 for 1792x1024.
    const clips = [
      { size: '1280x720', price: 300_000_000n },
      { size: '1792x1024', price: 500_000_000n },
    ];
    expect(charge(usage({ seconds: 8, size: '1792x1024' }), { clips })).toBe(4_000_000_000n);
    expect(charge(usage({ seconds: 12, size: '1280x720' }), { clips })).toBe(3_600_000_000n);
  });
});

test('a reranking call is charged once per search that its provider reports, and at least once', () => {
  expect(charge(usage({ searches: 3 }), { perCall: 2_000_000n })).toBe(6_000_000n);
  expect(charge(usage({ searches: 1 }), { perCall: 2_000_000n })).toBe(2_000_000n);
  expect(charge(usage({ input: 900 }), { perCall: 2_000_000n })).toBe(2_000_000n);
  expect(charge(usage({ videos: 2, seconds: 8 }), { perCall: 2_000_000n })).toBe(4_000_000n);
});

test('images priced by tokens are rounded together with the text', () => {
  const price = { input: 1n, imageOutput: 1n };
  expect(charge(usage({ input: 1, images: 1, source: 'counted' }), price)).toBe(2n);
  expect(charge(usage({ input: 710, images: 1, source: 'counted' }), price)).toBe(2n);
});

test('a delivered image without reported tokens costs estimated tokens if the model has no price per image', () => {
  const price = { input: 300_000n, output: 2_500_000n, imageOutput: 30_000_000n };
  expect(charge(usage({ images: 1, source: 'counted' }), price)).toBe(1290n * 30_000n);
  // Even the largest figure of a provider can be settled.
  expect(charge(usage({ images: 1e308, source: 'counted' }), price)).toBe(BigInt(1e308) * 1290n * 30_000n);
  expect(charge(usage({ images: 1, output: 1290, imageOutput: 1290 }), price)).toBe(1290n * 30_000n);
});
