import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { applyCatalogue } from './apply.ts';

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'modelport-apply-'));
  store = await openStore({ dataDir: folder });
  await store.migrate();
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const provider = { name: 'main', type: 'openai', credential: 'k' };
const model = { name: 'm', price: { input: 1, output: 2 }, targets: [{ provider: 'main' }] };
const nothing = { providers: { added: [], changed: [] }, models: { added: [], changed: [], repriced: [] } };
const priceIds = async () => (await store.prices({ limit: 100 })).map(({ id }) => id);

test('the first apply adds everything, and the second writes nothing', async () => {
  const changes = await applyCatalogue(store, { providers: [provider], models: [model] }, 5);
  expect(changes).toEqual({
    providers: { added: ['main'], changed: [] },
    models: { added: ['m'], changed: [], repriced: [] },
  });
  expect(await store.providers()).toEqual([{ name: 'main', type: 'openai', credentials: ['k'], settings: {} }]);
  const [priceId = ''] = await priceIds();
  expect(await store.models()).toEqual([
    {
      name: 'm',
      kind: 'chat',
      priceId,
      ownedBy: 'openai',
      onDisconnect: 'abort',
      createdAt: 5,
      targets: [{ provider: 'main', model: 'm', priority: 0, weight: 1 }],
    },
  ]);
  const generation = await store.generation();
  expect(await applyCatalogue(store, { providers: [provider], models: [model] }, 6)).toEqual(nothing);
  expect(await store.generation()).toBe(generation);
});

test('a price version is written only when the price changed, and the old one stays', async () => {
  await applyCatalogue(store, { providers: [provider], models: [model] }, 1);
  const written = { ...model, price: { output: '2.00', input: '1.0' } };
  expect(await applyCatalogue(store, { models: [written] }, 2)).toEqual(nothing);
  const [first] = await priceIds();
  const changes = await applyCatalogue(store, { models: [{ ...model, price: { input: 1, output: 3 } }] }, 3);
  expect(changes.models).toEqual({ added: [], changed: [], repriced: ['m'] });
  const [kept, second] = await priceIds();
  expect(kept).toBe(first);
  const [row] = await store.models();
  expect(row).toMatchObject({ priceId: second, createdAt: 1 });
  expect(await store.price(second ?? '')).toMatchObject({
    model: 'm',
    components: '{"input":"1000000","output":"3000000"}',
  });
});

test('`continuation: buffer` is kept; `off` is the same as without it', async () => {
  const apply = (continuation: unknown) =>
    applyCatalogue(store, { providers: [provider], models: [{ ...model, continuation }] }, 1);
  await apply('buffer');
  expect((await store.models())[0]?.continuation).toBe('buffer');
  for (const off of ['off', false, undefined]) {
    await apply(off);
    expect((await store.models())[0]).not.toHaveProperty('continuation');
    await apply('buffer');
  }
});

test('a change without a new price keeps the price version', async () => {
  await applyCatalogue(store, { providers: [provider], models: [model] }, 1);
  const changes = await applyCatalogue(
    store,
    {
      providers: [{ ...provider, credential: 'k2' }],
      models: [{ ...model, maxOutputTokens: 10, onDisconnect: 'drain' }],
    },
    2,
  );
  expect(changes).toEqual({
    providers: { added: [], changed: ['main'] },
    models: { added: [], changed: ['m'], repriced: [] },
  });
  expect(await priceIds()).toHaveLength(1);
});

test('entries that the form no longer names stay', async () => {
  await applyCatalogue(store, { providers: [provider], models: [model] }, 1);
  await applyCatalogue(store, {}, 2);
  expect(await store.models()).toHaveLength(1);
  expect(await store.providers()).toHaveLength(1);
});

test('list prices do not overwrite what an operator has set', async () => {
  await applyCatalogue(store, { providers: [provider], models: [model] }, 1);
  const listed = {
    providers: [{ name: 'main', type: 'openai' }],
    models: [
      { ...model, price: { input: 9, output: 9 } },
      { ...model, name: 'n' },
    ],
  };
  const changes = await applyCatalogue(store, listed, 2, { keepExisting: true });
  expect(changes).toEqual({ ...nothing, models: { added: ['n'], changed: [], repriced: [] } });
  expect((await store.providers())[0]?.credentials).toEqual(['k']);
});

test('the default for client disconnects is the operator’s', async () => {
  await applyCatalogue(store, { providers: [provider], models: [model] }, 1, { onDisconnect: 'drain' });
  expect((await store.models())[0]?.onDisconnect).toBe('drain');
});

const target = { provider: 'main' };
test.each([
  [{ providers: {} }, 'providers must be a list.'],
  [{ providers: ['main'] }, 'providers[0] must be an object with the members name, type, baseUrl'],
  [{ providers: [{ type: 'openai' }] }, 'providers[0].name must be a string without spaces.'],
  [{ providers: [{ ...provider, type: 'opnai' }] }, 'providers[0].type must be one of openai, xai.'],
  [
    { providers: [{ ...provider, baseURL: 'x' }] },
    'providers[0].baseURL is not known: the members are name, type, baseUrl',
  ],
  [{ providers: [{ ...provider, baseUrl: 'api.example.com' }] }, 'providers[0].baseUrl must be an http or https URL'],
  [{ providers: [{ ...provider, credentials: ['x'] }] }, 'providers[0] must have either credential or credentials'],
  [{ providers: [provider, provider] }, 'providers[1].name is the same as providers[0].name: "main".'],
  [
    { models: [model, { ...model, name: 'n', price: { input: 1, output: 'x' } }] },
    'models[1].price.output must be USD per',
  ],
  [{ models: [{ ...model, price: undefined }] }, 'models[0].price is missing: the model "m" needs a price'],
  [{ models: [{ ...model, price: { input: 1 } }] }, 'models[0].price must have input and output, or perCall, since'],
  [
    { models: [{ ...model, kind: 'speech', price: {} }] },
    'models[0].price must have perMillionCharacters, or perSecond',
  ],
  [
    { models: [{ ...model, kind: 'chatt' }] },
    'models[0].kind must be one of chat, embed, rerank, image, speech, transcription, moderation, video.',
  ],
  [{ models: [{ ...model, maxOutputTokens: 0 }] }, 'models[0].maxOutputTokens must be a whole number above zero.'],
  [{ models: [{ ...model, onDisconnect: 'stop' }] }, 'models[0].onDisconnect must be one of abort, drain.'],
  [{ models: [{ ...model, continuation: 'on' }] }, 'models[0].continuation must be one of off, buffer, prefill.'],
  [
    { models: [{ ...model, kind: 'embed', price: { input: 1 }, continuation: 'prefill' }] },
    'models[0].continuation is for models of the kind chat.',
  ],
  [
    { models: [{ ...model, kind: 'embed', price: { input: 1 }, continuation: 'buffer' }] },
    'models[0].continuation is for models of the kind chat.',
  ],
  [{ models: [{ ...model, targets: [] }] }, 'models[0].targets must list at least one target'],
  [{ models: [{ ...model, targets: [{ ...target, weight: -1 }] }] }, 'models[0].targets[0].weight must be a number'],
  [
    { models: [{ ...model, targets: [{ ...target, priority: 1.5 }] }] },
    'models[0].targets[0].priority must be an integer',
  ],
  [{ models: [{ ...model, targets: [target, target] }] }, 'models[0].targets[1] names the same provider and model as'],
  [
    { models: [{ ...model, targets: [{ provider: 'mian' }] }] },
    'models[0].targets[0].provider must name a configured provider: "mian" is not configured.',
  ],
] as [object, string][])('%j is refused with the entry and member, and nothing is written', async (form, sentence) => {
  const whole = { providers: [provider], ...form };
  const refused = await applyCatalogue(store, whole, 1, { types: ['openai', 'xai'] }).catch((thrown) => thrown);
  expect(refused.code).toBe('invalid_request');
  expect(refused.message).toStartWith(sentence);
  expect(refused.message).toMatch(/^[^\n]+\.$/);
  expect(sentence).toStartWith(refused.param.replace(/\.credentials$/, ''));
  expect(await store.providers()).toEqual([]);
  expect(await store.models()).toEqual([]);
});
