import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GatewayError } from '../canonical/errors.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { applyCatalogue } from './apply.ts';
import { type CatalogOptions, createCatalog, type Model } from './catalog.ts';

const folder = mkdtempSync(join(tmpdir(), 'modelport-catalog-'));
let store: Store;

beforeAll(async () => {
  store = await openStore({ dataDir: folder });
  await store.migrate();
  await applyCatalogue(
    store,
    {
      providers: [
        { name: 'main', type: 'openai', credentials: ['k1', 'k2', 'k3'], settings: { region: 'eu' } },
        { name: 'spare', type: 'openai-compatible', baseUrl: 'http://spare/v1' },
      ],
      models: [
        {
          name: 'Two-Targets',
          price: { input: 0.15, output: 0.6 },
          targets: [
            { provider: 'spare', model: 'b', priority: 1 },
            { provider: 'main', model: 'a' },
          ],
        },
        { name: 'spare-only', price: { perCall: 1 }, maxOutputTokens: 5, targets: [{ provider: 'spare' }] },
      ],
    },
    1000,
  );
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

async function open(providerDefaults?: CatalogOptions['providerDefaults']) {
  const catalog = createCatalog({ store, ...(providerDefaults && { providerDefaults }) });
  await catalog.reload();
  const model = (name: string): Model => {
    const found = catalog.find(name);
    if (!found) throw new Error(`${name} is not on sale`);
    return found;
  };
  return { catalog, model };
}

const order = (
  catalog: { order: (m: Model, r: () => number, now: number) => readonly { id: string }[] },
  model: Model,
  now = 0,
) => catalog.order(model, () => 0, now).map(({ id }) => id);
const failure = new GatewayError('upstream_failed', 'It failed.');

test('a model is found by its exact name, with price and targets by priority', async () => {
  const { catalog, model } = await open();
  expect(catalog.find('two-targets')).toBeUndefined();
  expect(catalog.list().map(({ name }) => name)).toEqual(['Two-Targets', 'spare-only']);
  expect(model('Two-Targets')).toMatchObject({
    kind: 'chat',
    price: { input: 150_000n, output: 600_000n },
    maxOutputTokens: 16_384,
    displayName: 'Two-Targets',
    ownedBy: 'openai-compatible',
    createdAt: 1000,
    onDisconnect: 'abort',
    targets: [
      {
        id: 'main/a',
        type: 'openai',
        credentials: ['k1', 'k2', 'k3'],
        settings: { region: 'eu' },
        priority: 0,
        weight: 1,
      },
      { id: 'spare/b', type: 'openai-compatible', baseUrl: 'http://spare/v1', credentials: [] },
    ],
  });
  expect(order(catalog, model('Two-Targets'))).toEqual(['main/a', 'spare/b']);
});

test('credentials are used in turn', async () => {
  const { catalog, model } = await open();
  const [main, spare] = model('Two-Targets').targets;
  if (!main || !spare) throw new Error('no targets');
  expect([1, 2, 3, 4].map(() => catalog.credential(main, 0))).toEqual(['k1', 'k2', 'k3', 'k1']);
  expect(catalog.credential(spare, 0)).toBeUndefined();
});

test('a target in cooldown is left out, and if all are, the caller gets the time of the first return', async () => {
  const { catalog, model } = await open();
  const two = model('Two-Targets');
  const [main, spare] = two.targets;
  if (!main || !spare) throw new Error('no targets');
  for (let i = 0; i < 5; i++) catalog.observe(main, { ok: false, error: failure }, 0);
  expect(order(catalog, two)).toEqual(['spare/b']);
  catalog.observe(spare, { ok: false, error: new GatewayError('rate_limited', 'Wait.', { retryAfterSeconds: 30 }) }, 0);
  const refused = refusal(() => catalog.order(two, Math.random, 500));
  expect(refused).toMatchObject({ code: 'upstream_unavailable', status: 503, retryAfterSeconds: 2 });
  expect(refused.message).toBe(
    'No upstream of the model "Two-Targets" is available after failures in a row. Please try again in 2 seconds.',
  );
  expect(order(catalog, two, 2000)).toEqual(['main/a']);
  catalog.observe(main, { ok: true }, 2000);
  expect(order(catalog, two, 30_000)).toEqual(['main/a', 'spare/b']);
});

test('if all targets cool down after a 429, the caller gets a rate limit error', async () => {
  const { catalog, model } = await open();
  const [target] = model('spare-only').targets;
  if (!target) throw new Error('no target');
  catalog.observe(target, { ok: false, error: new GatewayError('rate_limited', 'Wait.', { retryAfterSeconds: 9 }) }, 0);
  const refused = refusal(() => catalog.order(model('spare-only'), Math.random, 0));
  expect(refused).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 9 });
});

test('a reload keeps the health of targets that remain', async () => {
  const { catalog, model } = await open();
  const [target] = model('spare-only').targets;
  if (!target) throw new Error('no target');
  for (let i = 0; i < 5; i++) catalog.observe(target, { ok: false, error: failure }, 0);
  await catalog.reload();
  expect(() => catalog.order(model('spare-only'), Math.random, 0)).toThrow();
});

test('defaults of the process complete providers, and disable those that cannot be called', async () => {
  const { catalog, model } = await open({
    openai: { baseUrl: 'https://api.openai.com/v1', credential: 'from the environment', needsCredential: true },
    'openai-compatible': { needsCredential: true },
  });
  expect(catalog.list().map(({ name }) => name)).toEqual(['Two-Targets']);
  expect(model('Two-Targets').targets).toMatchObject([
    { id: 'main/a', baseUrl: 'https://api.openai.com/v1', credentials: ['k1', 'k2', 'k3'] },
  ]);
  const nowhere = await open({ openai: { credential: 'k' } });
  expect(nowhere.catalog.list()).toEqual([]);
  const other = await open({ 'openai-compatible': { credential: 'from the environment', needsCredential: true } });
  expect(other.model('Two-Targets').targets).toMatchObject([{ id: 'spare/b', credentials: ['from the environment'] }]);
});

function refusal(run: () => unknown): GatewayError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was refused');
}

test('a stand-in provider is used only while no other can be called', async () => {
  const defaults = {
    'openai-compatible': { onlyAlone: true },
    openai: { needsCredential: true, baseUrl: 'http://main/v1' },
  };
  const { catalog } = await open(defaults);
  expect(catalog.list().map(({ name }) => name)).toEqual(['Two-Targets']);
  expect(catalog.find('Two-Targets')?.targets.map(({ provider }) => provider)).toEqual(['main']);
  const alone = await open({ 'openai-compatible': { onlyAlone: true } });
  expect(alone.catalog.list().map(({ name }) => name)).toEqual(['Two-Targets', 'spare-only']);
});

test('failures that callers ask for start no cooldown', async () => {
  const { catalog, model } = await open({ 'openai-compatible': { failsOnRequest: true } });
  const spare = model('spare-only');
  const limited = new GatewayError('rate_limited', 'Later.', { retryAfterSeconds: 60 });
  for (let i = 0; i < 20; i++)
    for (const error of [failure, limited]) catalog.observe(spare.targets[0]!, { ok: false, error }, 0);
  expect(order(catalog, spare)).toEqual(['spare/spare-only']);
});

test('a wildcard makes a model of each name that it matches, with one health for its target', async () => {
  const target = { provider: 'main', model: '*' };
  await applyCatalogue(
    store,
    { models: [{ name: 'main/*', price: { input: 1, output: 1 }, targets: [target] }] },
    2000,
  );
  const { catalog, model } = await open();
  const found = model('main/gpt-5');
  expect(found).toMatchObject({ name: 'main/gpt-5', wildcard: 'main/*', displayName: 'main/gpt-5' });
  expect(found.targets).toMatchObject([{ id: 'main/*', model: 'gpt-5' }]);
  expect(catalog.find('main/gpt-5')).toBe(found);
  for (let i = 0; i < 1000; i++) catalog.find(`main/x${i}`);
  expect(catalog.find('main/gpt-5')).not.toBe(found);
  expect(catalog.find('main/*')).toBeUndefined();
  await store.removeModel('main/*');
});
