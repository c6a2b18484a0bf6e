import { expect, test } from 'bun:test';
import { forTests } from '../../../../test/helpers/for-tests.ts';
import { CATALOGUE, startCatalogueLoopback } from '../../../../test/helpers/loopback.ts';

const edge = forTests(startCatalogueLoopback, (started) => started.stop());

const NAMES = CATALOGUE.models.map(({ name }) => name).sort();

type Listed = { data?: { id: string }[]; models?: { name: string }[]; nextPageToken?: string; has_more?: boolean };

async function list(
  path: string,
  key: string | null = null,
  headers: { [name: string]: string } = {},
): Promise<Listed> {
  const response = await edge.ask('GET', path, { key, headers });
  expect(response.status).toBe(200);
  return (await response.json()) as Listed;
}

test('GET /v1/models answers in the OpenAI format', async () => {
  const { data, ...rest } = await list('/v1/models', edge.callerKey);
  expect(rest).toEqual({ object: 'list' } as Listed);
  expect(data?.map(({ id }) => id).sort()).toEqual(NAMES);
  expect(data?.[0]).toMatchObject({ object: 'model', owned_by: 'tests', created: expect.any(Number) });
});

test('x-api-key or a version header selects the Anthropic format', async () => {
  const shaped = { first_id: expect.any(String), has_more: false };
  expect(await list('/v1/models', null, { 'x-api-key': edge.callerKey })).toMatchObject(shaped);
  for (const name of ['anthropic-version', 'vendor1-version']) {
    const { data } = await list('/v1/models', edge.callerKey, { [name]: '2023-06-01', 'x-goog-api-key': 'x' });
    expect(data?.map(({ id }) => id).sort()).toEqual(NAMES);
    expect(data?.[0]).toMatchObject({ type: 'model', display_name: expect.stringContaining('Model ') });
  }
});

test('the Anthropic list pages forwards and backwards', async () => {
  const version = { 'anthropic-version': '2023-06-01' };
  const ids = (page: Listed) => page.data?.map(({ id }) => id) ?? [];
  const all = ids(await list('/v1/models', edge.callerKey, version));
  const first = await list('/v1/models?limit=2', edge.callerKey, version);
  expect([ids(first), first.has_more]).toEqual([all.slice(0, 2), true]);
  const rest = await list(`/v1/models?limit=2&after_id=${encodeURIComponent(all[1] ?? '')}`, edge.callerKey, version);
  expect([ids(rest), rest.has_more]).toEqual([all.slice(2), false]);
  const back = await list(`/v1/models?limit=1&before_id=${encodeURIComponent(all[2] ?? '')}`, edge.callerKey, version);
  expect([ids(back), back.has_more]).toEqual([all.slice(1, 2), true]);
  const wrong = await edge.ask('GET', '/v1/models?after_id=nothing', { headers: version });
  expect(wrong.status).toBe(400);
  expect(await wrong.json()).toMatchObject({ error: { param: 'after_id' } });
});

test('a Google header, ?key= or /v1beta selects the Google format', async () => {
  const names = NAMES.map((name) => `models/${name}`);
  const lists = [
    await list('/v1/models', null, { 'x-goog-api-key': edge.callerKey }),
    await list('/v1/models', null, { 'x-vendor2-api-key': edge.callerKey }),
    await list(`/v1/models?key=${edge.callerKey}`),
    await list('/v1beta/models', edge.callerKey),
    await list(`/v1beta/models?key=${edge.callerKey}`),
    await list('/v1beta/models', null, { 'x-api-key': edge.callerKey }),
  ];
  for (const { models } of lists) expect(models?.map(({ name }) => name).sort()).toEqual(names);
  expect(lists[0]?.models?.[0]).toMatchObject({ inputTokenLimit: 128_000, outputTokenLimit: 4096 });
});

test('the Google list pages by token', async () => {
  const first = await list('/v1beta/models?pageSize=2', edge.callerKey);
  expect(first.models?.length).toBe(2);
  const rest = await list(`/v1beta/models?pageSize=2&pageToken=${first.nextPageToken}`, edge.callerKey);
  expect(rest.nextPageToken).toBeUndefined();
  expect([...(first.models ?? []), ...(rest.models ?? [])].length).toBe(NAMES.length);
});

test('a model with a slash or a colon in its name is found in each format', async () => {
  for (const path of ['/v1/models/team%2Fbeta-2', '/v1/models/team/beta-2']) {
    expect(await (await edge.ask('GET', path)).json()).toMatchObject({ id: 'team/beta-2', object: 'model' });
  }
  expect(await (await edge.ask('GET', '/v1/models/gamma:8b')).json()).toMatchObject({ id: 'gamma:8b' });
  const anthropic = await edge.ask('GET', '/v1/models/alpha', { key: null, headers: { 'x-api-key': edge.callerKey } });
  expect(await anthropic.json()).toMatchObject({ id: 'alpha', type: 'model' });
  for (const path of ['/v1beta/models/team/beta-2', '/v1beta/models/models/team%2Fbeta-2']) {
    expect(await (await edge.ask('GET', path)).json()).toMatchObject({ name: 'models/team/beta-2' });
  }
});

test('an unknown model is 404, and letter case matters', async () => {
  for (const name of ['nothing', 'Alpha']) {
    const response = await edge.ask('GET', `/v1/models/${name}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'model_not_found' } });
  }
  const google = await edge.ask('GET', '/v1beta/models/nothing');
  expect(await google.json()).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
});

test('a key sees only the models that it may call', async () => {
  const key = await edge.issue('caller', { models: ['alpha'] });
  expect((await list('/v1/models', key)).data?.map(({ id }) => id)).toEqual(['alpha']);
  expect((await list('/v1beta/models', key)).models?.length).toBe(1);
  expect((await edge.ask('GET', '/v1/models/gamma:8b', { key })).status).toBe(404);
  const none = await edge.issue('caller', { models: ['nothing'] });
  expect((await list('/v1/models', none)).data).toEqual([]);
});

test('a missing key is 401 in the OpenAI format on /v1 and in the Google format on /v1beta', async () => {
  const openai = await edge.ask('GET', '/v1/models', { key: null });
  expect([openai.status, await openai.json()]).toMatchObject([401, { error: { code: 'invalid_api_key' } }]);
  const google = await edge.ask('GET', '/v1beta/models', { key: null });
  expect([google.status, await google.json()]).toMatchObject([401, { error: { status: 'UNAUTHENTICATED' } }]);
});

test('aliases are listed and found under their own name, wildcards are not', async () => {
  const [alpha] = CATALOGUE.models;
  await edge.deps.apply(
    {
      models: [
        { ...alpha, aliases: ['first'] },
        { ...alpha, name: 'open-*', targets: [{ ...alpha?.targets[0], model: '*' }] },
      ],
    },
    'test',
  );
  await edge.deps.catalog.reload();
  const names = [...NAMES, 'first'].sort();
  expect((await list('/v1/models', edge.callerKey)).data?.map(({ id }) => id).sort()).toEqual(names);
  expect((await list('/v1beta/models', edge.callerKey)).models?.map(({ name }) => name).sort()).toEqual(
    names.map((name) => `models/${name}`),
  );
  expect((await list('/v1/models', null, { 'x-api-key': edge.callerKey })).data?.map(({ id }) => id).sort()).toEqual(
    names,
  );
  for (const name of ['first', 'open-source']) {
    expect(await (await edge.ask('GET', `/v1/models/${name}`)).json()).toMatchObject({ id: name });
  }
  expect((await edge.ask('GET', '/v1/models/open-*')).status).toBe(404);
});

test('a key sees its own aliases, and an alias alone where its list names that alone', async () => {
  const own = await edge.issue('caller', { models: ['alpha', 'mine'], aliases: { mine: 'gamma:8b', gone: 'nothing' } });
  expect((await list('/v1/models', own)).data?.map(({ id }) => id)).toEqual(['alpha', 'first', 'mine']);
  const alias = await edge.issue('caller', { models: ['first'] });
  expect((await list('/v1/models', alias)).data?.map(({ id }) => id)).toEqual(['first']);
});
