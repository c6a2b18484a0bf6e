import { expect, test } from 'bun:test';
import { readCatalogue } from './catalogue.ts';
import { listedCatalogue, PRICE_LIST } from './price-list.ts';

const types = [...new Set(PRICE_LIST.models.map(({ type }) => type))];

test('the list is a valid form, and each name occurs once', () => {
  const { providers, models } = readCatalogue(listedCatalogue(types));
  expect(providers.map(({ name }) => name)).toEqual(types);
  expect(models).toHaveLength(PRICE_LIST.models.length);
});

test('prices have a plausible order: cached below input, input at most output, the one-hour cache write highest', () => {
  for (const { name, price } of readCatalogue(listedCatalogue(types)).models) {
    if (price.input === undefined || price.output === undefined) continue;
    const { input = 0n, cachedInput = 0n, cacheWrite = input, cacheWriteHour = cacheWrite, output = 0n } = price;
    const ordered = cachedInput < input && input <= cacheWrite && cacheWrite <= cacheWriteHour && input <= output;
    expect(`${name}: ${ordered}`).toBe(`${name}: true`);
  }
});

test('it contains only the requested providers', () => {
  const { providers, models } = readCatalogue(listedCatalogue(['groq', 'a-provider-without-list']));
  expect(providers.map(({ name }) => name)).toEqual(['groq', 'a-provider-without-list']);
  expect(new Set(models.flatMap(({ targets }) => targets.map(({ provider }) => provider)))).toEqual(new Set(['groq']));
});

test('gpt-4o-mini has the documented price and provider', () => {
  const mini = readCatalogue(listedCatalogue(['openai'])).models.find(({ name }) => name === 'gpt-4o-mini');
  expect(mini).toMatchObject({
    price: { input: 150_000n, cachedInput: 75_000n, output: 600_000n },
    maxOutputTokens: 16_384,
    contextTokens: 128_000,
    targets: [{ provider: 'openai', model: 'gpt-4o-mini' }],
  });
});

test.each([
  ['openai', 'gpt-5.5', 272_001, { input: 10_000_000n, cachedInput: 1_000_000n, output: 45_000_000n }],
  ['openai', 'gpt-6.2-sol', 272_001, { input: 4_000_000n, cachedInput: 200_000n, output: 15_000_000n }],
  ['openai', 'gpt-5.4', 272_001, { input: 5_000_000n, output: 22_500_000n }],
  ['openai', 'gpt-5.6-luna', 272_001, { input: 400_000n, cacheWrite: 500_000n, output: 1_800_000n }],
  ['anthropic', 'claude-haiku-5-5', 100_001, { input: 500_000n, cacheWriteHour: 1_000_000n, output: 2_500_000n }],
  ['google', 'gemini-3.1-pro-preview', 200_001, { input: 4_000_000n, cachedInput: 400_000n, output: 18_000_000n }],
  ['google', 'gemini-2.5-pro', 200_001, { input: 2_500_000n, output: 15_000_000n }],
  ['xai', 'grok-4.7', 200_000, { input: 4_000_000n, cachedInput: 1_000_000n, output: 12_000_000n }],
])("%s: %s has its provider's listed price for long inputs", (type, model, from, rates) => {
  const listed = readCatalogue(listedCatalogue([type])).models.find(({ name }) => name === model);
  expect(listed?.price.tiers).toEqual([expect.objectContaining({ from, ...rates })]);
});

test('images and videos have the providers’ listed prices', () => {
  const models = new Map(readCatalogue(listedCatalogue(types)).models.map((model) => [model.name, model]));
  expect(models.get('gpt-image-2')).toMatchObject({
    kind: 'image',
    price: { input: 5_000_000n, imageInput: 8_000_000n, output: 30_000_000n, imageOutput: 30_000_000n },
  });
  expect(models.get('veo-3.1-fast-generate-preview')).toMatchObject({
    kind: 'video',
    price: { perSecond: 120_000_000n, clips: expect.arrayContaining([{ size: '4k', price: 300_000_000n }]) },
  });
});

test('a longer input never costs less', () => {
  for (const { name, price } of readCatalogue(listedCatalogue(types)).models) {
    for (const tier of price.tiers ?? []) {
      const costsMore = (tier.input ?? 0n) > (price.input ?? 0n) && (tier.output ?? 0n) > (price.output ?? 0n);
      expect(`${name}: ${costsMore}`).toBe(`${name}: true`);
    }
  }
});

test('embeddings, reranking, speech, transcription and moderation have the providers’ listed prices', () => {
  const models = new Map(readCatalogue(listedCatalogue(types)).models.map((model) => [model.name, model]));
  expect(models.get('text-embedding-3-small')).toMatchObject({ kind: 'embed', price: { input: 20_000n } });
  expect(models.get('rerank-2.5')).toMatchObject({ kind: 'rerank', price: { input: 50_000n } });
  expect(models.get('tts-1')).toMatchObject({ kind: 'speech', price: { perCharacter: 15_000_000n } });
  expect(models.get('gemini-3.8-flash-tts')).toMatchObject({ kind: 'speech', price: { output: 9_000_000n } });
  // 0.006 USD per minute.
  expect(models.get('whisper-1')).toMatchObject({ kind: 'transcription', price: { perSecond: 100_000n } });
  // 0.111 USD per hour, rounded up.
  expect(models.get('whisper-large-v3')).toMatchObject({ price: { perSecond: 30_834n } });
  expect(models.get('text-embedding-v4')).toMatchObject({ kind: 'embed', price: { input: 70_000n } });
  expect(models.get('omni-moderation-latest')).toMatchObject({ kind: 'moderation', price: { perCall: 0n } });
});

test('a provider tool has the price of the first matching row, for chat models only', () => {
  const models = new Map(readCatalogue(listedCatalogue(types)).models.map((model) => [model.name, model]));
  expect(models.get('gemini-2.5-pro')?.price).toMatchObject({ perToolUse: 35_000_000n });
  expect(models.get('gemini-2.5-pro')?.price).not.toHaveProperty('perToolCall');
  expect(models.get('gemini-3.8-flash')?.price).toMatchObject({ perToolCall: 14_000_000n });
  expect(models.get('gpt-5')?.price).toMatchObject({ perToolCall: 10_000_000n });
  expect(models.get('text-embedding-3-small')?.price).not.toHaveProperty('perToolCall');
  expect(models.get('deepseek-flash')?.price).not.toHaveProperty('perToolCall');
});
