import { expect, test } from 'bun:test';
import { loadConfig } from './config.ts';
import { providerVariables } from './found-providers.ts';
import { misspeltVariables, startListing } from './start-listing.ts';
import type { ModelRow, PriceRow, ProviderRow } from './store/catalog-rows.ts';

const misspelt = (env: { [variable: string]: string }) =>
  misspeltVariables(env, providerVariables()).map(({ variable, meant }) => `${variable} -> ${meant}`);

test('variables that look misspelt are named with the one that is read', () => {
  expect(misspelt({ OPEN_AI_API_KEY: 'sk-1', CLAUDE_API_KEY: 'sk-2', GOOGLE_API_KEY: 'sk-3' })).toEqual([
    'OPEN_AI_API_KEY -> OPENAI_API_KEY',
    'CLAUDE_API_KEY -> ANTHROPIC_API_KEY',
    'GOOGLE_API_KEY -> GEMINI_API_KEY',
  ]);
  expect(misspelt({ OPENAI_APIKEY: 'sk-1', openrouter_api_key: 'sk-2', OLLAMA_BASEURL: 'http://127.0.0.1:1' })).toEqual(
    [
      'OPENAI_APIKEY -> OPENAI_API_KEY',
      'openrouter_api_key -> OPENROUTER_API_KEY',
      'OLLAMA_BASEURL -> OLLAMA_BASE_URL',
    ],
  );
});

test('variables that are read, empty, or set beside the right one are not named', () => {
  const right = Object.fromEntries(
    providerVariables().flatMap(({ credentialVariable: name }) => (name ? [[name, 'x']] : [])),
  );
  expect(misspelt(right)).toEqual([]);
  expect(misspelt({ OPEN_AI_API_KEY: 'sk-1', OPENAI_API_KEY: 'sk-2', GOOGLE_API_KEY: ' ', PATH: '/bin' })).toEqual([]);
  expect(loadConfig({ OPEN_AI_API_KEY: 'sk-1' }, providerVariables(), '/nowhere').providers).toEqual([]);
});

test('a start lists providers, models and the dates of their prices in three lines', async () => {
  const model = (name: string): ModelRow =>
    ({ name, priceId: `price_${name}`, targets: [{ provider: 'main', model: name }] }) as never;
  const names = ['gpt-6.1-sol', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const prices = names.map((name, day) => ({ id: `price_${name}`, createdAt: Date.UTC(2026, 4, day + 1) }) as PriceRow);
  const store = {
    providers: async () => [{ name: 'main', type: 'openai' } as ProviderRow],
    models: async () => names.map(model),
    prices: async () => [...prices, { id: 'unused', createdAt: 0 } as PriceRow],
  };
  const lines = await startListing(store, Date.now());
  expect(lines).toEqual([
    'Providers (1): main',
    'Models (8): gpt-6.1-sol, b, c, d, e, f and 2 more',
    expect.stringMatching(
      /^Prices: set 2026-05-01 to 2026-05-08; list prices of this version are as of \d{4}-\d\d-\d\d$/,
    ),
  ]);
  const none = { ...store, providers: async () => [], models: async () => [] };
  expect(await startListing(none, Date.now())).toEqual(['No provider is configured.']);
});
