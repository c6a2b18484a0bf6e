import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refusal } from '../../test/helpers/gateway-error.ts';
import { GatewayError } from '../canonical/errors.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { applyCatalogue } from './apply.ts';
import { type Catalog, type CatalogOptions, createCatalog, type Model, type ModelTarget } from './catalog.ts';

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

/** Of the catalogs of these tests. */
let clock = 0;

async function open(providerDefaults?: CatalogOptions['providerDefaults']) {
  clock = 0;
  const catalog = createCatalog({ store, now: () => clock, ...(providerDefaults && { providerDefaults }) });
  await catalog.reload();
  const model = (name: string): Model => {
    const found = catalog.find(name);
    if (!found) throw new Error(`${name} is not on sale`);
    return found;
  };
  return { catalog, model };
}

const order = (catalog: Catalog, model: Model, now = 0) => {
  clock = now;
  return catalog.order(model, () => 0).map(({ id }) => id);
};
/** A call fails at the target with its first credential. */
const fail = (catalog: Catalog, target: ModelTarget, error: GatewayError) =>
  catalog.another(target, [target.credentials[0]], error);
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
  expect([1, 2, 3, 4].map(() => catalog.credential(main))).toEqual(['k1', 'k2', 'k3', 'k1']);
  expect(catalog.credential(spare)).toBeUndefined();
});

test('a target that has failed comes last, and one that is rate limited is left out', async () => {
  const { catalog, model } = await open();
  const two = model('Two-Targets');
  const [main, spare] = two.targets;
  if (!main || !spare) throw new Error('no targets');
  for (let i = 0; i < 5; i++) fail(catalog, main, failure);
  expect(order(catalog, two)).toEqual(['spare/b', 'main/a']);
  fail(catalog, spare, new GatewayError('rate_limited', 'Wait.', { retryAfterSeconds: 30 }));
  expect(order(catalog, two)).toEqual(['main/a']);
  catalog.succeeded(main, 'k1');
  expect(order(catalog, two, 30_000)).toEqual(['main/a', 'spare/b']);
});

test('if all are rate limited the error is rate_limited, with the earliest retry time', async () => {
  const { catalog, model } = await open();
  const [target] = model('spare-only').targets;
  if (!target) throw new Error('no target');
  fail(catalog, target, new GatewayError('rate_limited', 'Wait.', { retryAfterSeconds: 9 }));
  clock = 2000;
  const refused = refusal(() => catalog.order(model('spare-only'), Math.random));
  expect(refused).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 7 });
  expect(refused.message).toBe(
    'Every upstream of the model "spare-only" has reached its rate limit. Please try again in 7 seconds.',
  );
});

test('an only target that has failed takes one call at a time; other calls get an error with a retry time', async () => {
  const { catalog, model } = await open();
  const [target] = model('spare-only').targets;
  if (!target) throw new Error('no target');
  for (let i = 0; i < 5; i++) fail(catalog, target, failure);
  expect(order(catalog, model('spare-only'))).toEqual(['spare/spare-only']);
  catalog.routing.state.health(target).takeLease(0, true);
  const refused = refusal(() => catalog.order(model('spare-only'), Math.random));
  expect(refused).toMatchObject({ code: 'upstream_unavailable', status: 503, retryAfterSeconds: 1 });
});

test('a reload keeps the health of targets that remain', async () => {
  const { catalog, model } = await open();
  const [main] = model('Two-Targets').targets;
  if (!main) throw new Error('no target');
  for (let i = 0; i < 5; i++) fail(catalog, main, failure);
  await catalog.reload();
  expect(order(catalog, model('Two-Targets'))).toEqual(['spare/b', 'main/a']);
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

test('failures caused by the caller start no cooldown', async () => {
  const { catalog, model } = await open({ 'openai-compatible': { failsOnRequest: true } });
  const spare = model('spare-only');
  const limited = new GatewayError('rate_limited', 'Later.', { retryAfterSeconds: 60 });
  for (let i = 0; i < 20; i++) for (const error of [failure, limited]) fail(catalog, spare.targets[0]!, error);
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
