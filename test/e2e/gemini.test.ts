/** What only the generateContent format has: its paths, keys, two stream framings and errors. */
import { describe, expect, test } from 'bun:test';
import { PROVIDERS } from '../helpers/provider-answers.ts';
import type { Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';

const { gemini: PROVIDER, chat } = PROVIDERS;
const OUTPUT = { texts: ['Grüße ', 'aus ', '日本'] };
const CONTENTS = [{ role: 'user', parts: [{ text: 'Hi' }] }];

const scene = useScene();

interface Answer {
  candidates?: { content: { parts: { text: string }[] } }[];
  modelVersion?: string;
  usageMetadata?: { totalTokenCount: number };
  error?: { code: number; status: string; message: string };
  totalTokens?: number;
}

function send(stage: Stage, path: string, headers?: { [name: string]: string }, body: object = { contents: CONTENTS }) {
  const key = headers ?? { 'x-goog-api-key': stage.caller.key };
  return fetch(scene.gateway.url + path, { method: 'POST', headers: key, body: JSON.stringify(body) });
}

const textOf = (answers: Answer[]) =>
  answers
    .flatMap(({ candidates }) => candidates?.[0]?.content.parts ?? [])
    .map(({ text }) => text)
    .join('');

describe('paths', () => {
  test.each(['/v1beta', '/v1'])(
    "under %s, with slashes and a colon in the model's name in every spelling",
    async (prefix) => {
      const model = `team/model:8b-${prefix.slice(1)}`;
      const stage = await scene.stage({ type: chat.type, model });
      for (const name of [model, encodeURIComponent(model), `models/${model}`, `models/models/${model}`]) {
        for (const slash of ['', '/']) {
          stage.script(chat.whole(OUTPUT));
          const response = await send(stage, `${prefix}/models/${name}:generateContent${slash}`);
          const answer = (await response.json()) as Answer;
          expect(response.status).toBe(200);
          expect(answer).toMatchObject({ modelVersion: model, usageMetadata: { totalTokenCount: 18 } });
          expect(textOf([answer])).toBe('Grüße aus 日本');
        }
      }
      expect(await stage.settled()).toHaveLength(8);
    },
  );

  test('an unknown action, an unknown model and a missing body give errors of the format', async () => {
    const stage = await scene.stage();
    const cases: [string, number, string][] = [
      [`${stage.model}:predict`, 404, 'NOT_FOUND'],
      [stage.model, 404, 'NOT_FOUND'],
      ['nobody:generateContent', 404, 'NOT_FOUND'],
    ];
    for (const prefix of ['/v1beta/models/', '/v1/models/']) {
      for (const [call, code, status] of cases) {
        const response = await send(stage, prefix + call);
        expect(response.status).toBe(code);
        expect(await response.json()).toMatchObject({ error: { code, status } });
      }
      const broken = await send(stage, `${prefix}${stage.model}:generateContent`, undefined, { contents: 5 });
      expect(await broken.json()).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } });
    }
  });
});

test('the key can be in each of its places, and a bearer token has precedence', async () => {
  const stage = await scene.stage({ type: chat.type });
  const { key } = stage.caller;
  const path = `/v1beta/models/${stage.model}:generateContent`;
  const ways: [string, { [name: string]: string }][] = [
    [path, { 'x-goog-api-key': key }],
    [path, { 'x-vendor2-api-key': key }],
    [`${path}?key=${key}`, {}],
    [`${path}?key=sk-wrong`, { authorization: `Bearer ${key}` }],
  ];
  for (const [address, headers] of ways) {
    stage.script(chat.whole(OUTPUT));
    expect((await send(stage, address, headers)).status).toBe(200);
  }
  const wrong = await send(stage, path, { authorization: 'Bearer sk-wrong', 'x-goog-api-key': key });
  expect(wrong.status).toBe(401);
  expect(await wrong.json()).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED' } });
  await stage.settled();
});

for (const provider of [PROVIDER, chat]) {
  describe(`streams with ${provider.type}`, () => {
    const start = async () => {
      const { type, upstreamModel } = provider;
      const stage = await scene.stage({ type, upstreamModel });
      stage.script(provider.stream(OUTPUT));
      return stage;
    };

    test('as events', async () => {
      const stage = await start();
      const response = await send(stage, `/v1/models/${stage.model}:streamGenerateContent?alt=sse`);
      expect(response.headers.get('content-type')).toStartWith('text/event-stream');
      const events = (await response.text()).split('\r\n\r\n').filter((event) => event !== '');
      expect(textOf(events.map((event) => JSON.parse(event.slice(6))))).toBe('Grüße aus 日本');
      expect((await stage.settledCall()).outcome).toBe('ok');
    });

    test('as one array', async () => {
      const stage = await start();
      const response = await send(stage, `/v1beta/models/${stage.model}:streamGenerateContent`);
      expect(response.headers.get('content-type')).toStartWith('application/json');
      const answers = (await response.json()) as Answer[];
      expect(answers.length).toBeGreaterThan(1);
      expect(textOf(answers)).toBe('Grüße aus 日本');
      expect(answers.every(({ modelVersion }) => modelVersion === stage.model)).toBe(true);
      expect((await stage.settledCall()).outcome).toBe('ok');
    });
  });
}

test("its own provider is called on its own path, with the provider's key and the client's body", async () => {
  const stage = await scene.stage({ type: PROVIDER.type, upstreamModel: PROVIDER.upstreamModel });
  stage.script(PROVIDER.whole(OUTPUT), PROVIDER.stream(OUTPUT));
  const body = { contents: CONTENTS, safety_settings: [{ category: 'X', threshold: 'BLOCK_NONE' }], odd: 1.0 };
  const path = `/v1beta/models/${stage.model}`;
  await (await send(stage, `${path}:generateContent?key=${stage.caller.key}`, {}, body)).text();
  await (await send(stage, `${path}:streamGenerateContent?alt=sse`, undefined, body)).text();
  const requests = stage.journal();
  expect(requests.map((request) => request.path.replace(/^.*\/v1\//, ''))).toEqual([
    'models/gemini-2.5-flash:generateContent',
    'models/gemini-2.5-flash:streamGenerateContent?alt=sse',
  ]);
  for (const request of requests) {
    expect(request.body).toEqual(body);
    expect(request.headers['x-goog-api-key']).toStartWith('sk-upstream-secret');
  }
  await stage.settled();
});

test('an image by URL is refused with a helpful message if the provider accepts none', async () => {
  const stage = await scene.stage({ type: PROVIDER.type, upstreamModel: PROVIDER.upstreamModel });
  const image = { type: 'image_url', image_url: { url: 'http://127.0.0.1/cat.png' } };
  const request = { model: stage.model, messages: [{ role: 'user', content: [image] }] };
  const response = await stage.post('/v1/chat/completions', request);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('base64') } });
  expect(stage.journal()).toEqual([]);
  expect(await stage.settled()).toEqual([]);
});

test('tokens are counted for any model, without sending or charging anything', async () => {
  const stage = await scene.stage({ type: chat.type });
  const response = await send(stage, `/v1/models/${stage.model}:countTokens`);
  expect(((await response.json()) as Answer).totalTokens).toBeGreaterThan(0);
  expect(stage.journal()).toEqual([]);
  expect(await stage.settled()).toEqual([]);
});
