import { expect, test } from 'bun:test';
import { readCatalogue } from './catalogue.ts';
import { listedCatalogue, PRICE_LIST } from './price-list.ts';

const types = PRICE_LIST.map(({ type }) => type);

test('the whole list can be read as people’s form, each name once', () => {
  const { providers, models } = readCatalogue(listedCatalogue(types));
  expect(providers.map(({ name }) => name)).toEqual(types);
  expect(models).toHaveLength(PRICE_LIST.reduce((sum, vendor) => sum + vendor.models.length, 0));
});

test('prices are in the order vendors have them: cached below input, input at most output, an hour’s cache dearest', () => {
  for (const { name, price } of readCatalogue(listedCatalogue(types)).models) {
    const { input = 0n, cachedInput = 0n, cacheWrite = input, cacheWriteHour = cacheWrite, output = 0n } = price;
    const ordered = cachedInput < input && input <= cacheWrite && cacheWrite <= cacheWriteHour && input <= output;
    expect(`${name}: ${ordered}`).toBe(`${name}: true`);
  }
});

test('only the vendors asked for are on it', () => {
  const { providers, models } = readCatalogue(listedCatalogue(['groq', 'a-vendor-without-list']));
  expect(providers.map(({ name }) => name)).toEqual(['groq', 'a-vendor-without-list']);
  expect(new Set(models.flatMap(({ targets }) => targets.map(({ provider }) => provider)))).toEqual(new Set(['groq']));
});

test('gpt-4o-mini has the price of behaviour and the vendor', () => {
  const mini = readCatalogue(listedCatalogue(['openai'])).models.find(({ name }) => name === 'gpt-4o-mini');
  expect(mini).toMatchObject({
    price: { input: 150_000n, cachedInput: 75_000n, output: 600_000n },
    maxOutputTokens: 16_384,
    contextTokens: 128_000,
    targets: [{ provider: 'openai', model: 'gpt-4o-mini' }],
  });
});
