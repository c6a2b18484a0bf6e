/** Embeddings and reranking through the running gateway, with the official libraries and plain HTTP. */
import { describe, expect, test } from 'bun:test';
import { startOthersClient } from '../clients/others-client.ts';
import { hasFixtures } from '../helpers/fixtures.ts';
import { nanoOf, type Stage } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';

const scene = useScene();
const client = useClient(startOthersClient);

const at = (stage: Stage) => ({ url: scene.gateway.url, apiKey: stage.caller.key });
const vectorsAnswer = (vectors: readonly (readonly number[])[], tokens = 5) => ({
  json: {
    object: 'list',
    data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: 'upstream-model',
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  },
});
/** Each text's vector contains its number, to check the order. */
const numbered = (texts: readonly string[]) => texts.map((text) => [Number(text.slice(1)), 1]);

interface Embeddings {
  data: { index: number; embedding: number[] }[];
  usage: { prompt_tokens: number };
  model: string;
}

async function embed(stage: Stage, more: object): Promise<Embeddings> {
  const view = await client.run({ call: 'openai embeddings', at: at(stage), request: { model: stage.model, ...more } });
  if (view.error) throw new Error(JSON.stringify(view.error));
  return view.reply as Embeddings;
}

const ranked = async (response: Response) => (await response.json()) as { results: object[] };

describe('the official libraries with the sandbox', () => {
  test('openai: base64, its default, and float give the same vectors, and similar texts have similar ones', async () => {
    const stage = await scene.stage();
    const input = ['reset my password', 'resetting a password', 'plum cake'];
    const ask = (more: object) => embed({ ...stage, model: 'sandbox-embed' }, { input, ...more });
    const [packed, plain] = [await ask({}), await ask({ encoding_format: 'float' })];
    expect(packed.data.map(({ embedding }) => embedding)).toEqual(plain.data.map(({ embedding }) => embedding));
    const [a, b, c] = plain.data.map(({ embedding }) => embedding) as [number[], number[], number[]];
    const likeness = (x: number[], y: number[]) => x.reduce((sum, value, place) => sum + value * (y[place] ?? 0), 0);
    expect(likeness(a, b)).toBeGreaterThan(likeness(a, c));
    expect((await ask({ dimensions: 7 })).data[0]?.embedding).toHaveLength(7);
    expect(await stage.settled()).toHaveLength(3);
  });

  test('genai: one text, several texts, and the number of dimensions', async () => {
    const stage = await scene.stage();
    const request = { model: 'sandbox-embed', contents: ['one', 'two'], config: { outputDimensionality: 9 } };
    const { reply } = await client.run({ call: 'genai embedContent', at: at(stage), request });
    const { embeddings } = reply as { embeddings: { values: number[] }[] };
    expect(embeddings.map(({ values }) => values.length)).toEqual([9, 9]);
    expect(await stage.settled()).toHaveLength(1);
  });

  test.each(['cohere rerank', 'cohere v2 rerank'] as const)('%s: sorted, only the best', async (call) => {
    const stage = await scene.stage();
    const documents = ['Plums are fruit.', 'Paris is the capital of France.', 'Berlin is a capital.'];
    const request = { model: 'sandbox-rerank', query: 'capital of France', documents, topN: 2 };
    const { reply, error } = await client.run({ call, at: at(stage), request });
    expect(error).toBeUndefined();
    expect(reply).toMatchObject({ id: expect.any(String), results: [{ index: 1 }, { index: 2 }] });
    expect((await stage.settledCall()).cost).not.toBe('0');
  });
});

describe('batches of texts', () => {
  const upstreamOf = (type: string) => scene.stage({ type, kind: 'embed', amount: '10.00' });
  const texts = Array.from({ length: 25 }, (_, index) => `t${index}`);

  test("above the provider's maximum they are split, returned in order, and charged once", async () => {
    const stage = await upstreamOf('dashscope');
    for (let from = 0; from < 25; from += 10) stage.script(vectorsAnswer(numbered(texts.slice(from, from + 10)), 7));
    const { data, usage, model } = await embed(stage, { input: texts });
    const bodies = stage.journal().map(({ body }) => body?.input as string[]);
    expect(bodies.map((input) => input.length).sort()).toEqual([10, 10, 5]);
    // The order of requests depends on the network, but each answer must be at the place of its question.
    expect(data.map(({ index }) => index)).toEqual(texts.map((_, index) => index));
    expect(model).toBe(stage.model);
    expect(usage.prompt_tokens).toBe(21);
    expect(nanoOf((await stage.settledCall()).cost)).toBe(21_000n);
  });

  test('2,048 texts in one call are accepted, one more is refused', async () => {
    const stage = await upstreamOf('openai');
    const many = Array.from({ length: 2048 }, (_, index) => `t${index}`);
    stage.script(vectorsAnswer(numbered(many), 2048));
    expect((await embed(stage, { input: many })).data[2047]?.embedding).toEqual([2047, 1]);
    expect(stage.journal()).toHaveLength(1);
    const refused = await stage.post('/v1/embeddings', { model: stage.model, input: [...many, 'one more'] });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { param: 'input', type: 'invalid_request_error' } });
    expect(await stage.settled()).toHaveLength(1);
  });

  test('a batch that fails makes the whole call fail without a charge', async () => {
    const stage = await upstreamOf('dashscope');
    stage.script(vectorsAnswer(numbered(texts.slice(0, 10))));
    stage.script({ status: 400, json: { error: { message: 'The text is too long.', type: 'invalid_request_error' } } });
    stage.script(vectorsAnswer(numbered(texts.slice(20))));
    const response = await stage.post('/v1/embeddings', { model: stage.model, input: texts });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message: 'The text is too long.' } });
    expect((await stage.settledCall()).cost).toBe('0');
  });

  test('a reply with too few vectors is a failure', async () => {
    const stage = await upstreamOf('openai');
    stage.script(vectorsAnswer([[1, 2]]));
    const response = await stage.post('/v1/embeddings', { model: stage.model, input: ['a', 'b'] });
    expect(response.status).toBe(502);
    expect((await stage.settledCall()).cost).toBe('0');
  });
});

describe.skipIf(!hasFixtures)('recorded providers', () => {
  test.each([
    ['openai', 'openai/envoy-embeddings-base64.json', '/embeddings'],
    ['mistral', 'mistral-embed_can_handle_a_single_text.0.json', '/embeddings'],
    ['google', 'gemini-embedding-001_can_handle_a_single_text_with_custom_dimensions.0.json', ':batchEmbedContents'],
    ['cohere', 'cohere_embed-v4_0_can_handle_a_single_text.0.json', '/v2/embed'],
    ['perplexity', 'pplx-embed-v1-0_6b_decodes_a_single_text_into_int8_vectors.0.json', '/embeddings'],
  ])('%s', async (type, fixture, path) => {
    const stage = await scene.stage({ type, kind: 'embed' });
    stage.script({ fixture }, { fixture });
    const [packed, plain] = [
      await embed(stage, { input: 'a text' }),
      await embed(stage, { input: 'a text', encoding_format: 'float' }),
    ];
    expect(packed.data[0]?.embedding.length).toBeGreaterThan(100);
    expect(plain.data[0]?.embedding.map(Math.fround)).toEqual(packed.data[0]?.embedding ?? []);
    expect(stage.journal().every((entry) => entry.path.endsWith(path))).toBe(true);
    expect(await stage.settled()).toHaveLength(2);
  });

  test.each([
    ['cohere', 'rerank-v3_5_orders_documents_by_relevance_and_resolves_them_from_the_request.0.json', '/v2/rerank'],
    ['openrouter', 'rerank-2_5-lite_orders_documents_by_relevance_and_reports_the_exact_.0.json', '/rerank'],
    ['voyage', 'voyage/voyage-reranking.1.json', '/rerank'],
  ])('%s ranks documents', async (type, fixture, path) => {
    const stage = await scene.stage({ type, kind: 'rerank' });
    stage.script({ fixture }, { fixture });
    const ask = { model: stage.model, query: 'q', documents: ['first', { text: 'second' }] };
    const bare = await ranked(await stage.post('/v1/rerank', ask));
    expect(bare).toMatchObject({ id: expect.any(String), results: [{ index: 1 }, { index: 0 }], meta: {} });
    expect(bare.results[0]).not.toHaveProperty('document');
    const full = await ranked(await stage.post('/v1/rerank', { ...ask, return_documents: true, top_n: 1 }));
    expect(full.results).toMatchObject([{ index: 1, document: { text: 'second' } }]);
    expect(stage.journal()[0]?.path.endsWith(path)).toBe(true);
    expect(stage.journal()[0]?.body?.documents).toEqual(['first', 'second']);
    expect(await stage.settled()).toHaveLength(2);
  });
});

describe('invalid requests', () => {
  test.each([
    ['/v1/embeddings', { input: '' }, 'input'],
    ['/v1/embeddings', { input: [] }, 'input'],
    ['/v1/embeddings', { input: ['a', 3] }, 'input[1]'],
    ['/v1/embeddings', { input: 'a', dimensions: 0 }, 'dimensions'],
    ['/v1/embeddings', { input: 'a', encoding_format: 'int8' }, 'encoding_format'],
    ['/v1/engines/another/embeddings', { input: 'a' }, 'model'],
    ['/v1/rerank', { documents: ['a'] }, 'query'],
    ['/v1/rerank', { query: 'a', documents: [] }, 'documents'],
    ['/v1/rerank', { query: 'a', documents: [{}] }, 'documents[0]'],
    ['/v1/rerank', { query: 'a', documents: ['a'], top_n: 0 }, 'top_n'],
    ['/v1/rerank', { query: 'a', documents: ['a'], return_documents: 'yes' }, 'return_documents'],
  ])('%s %j', async (path, body, param) => {
    const stage = await scene.stage({ kind: path.includes('rerank') ? 'rerank' : 'embed' });
    const response = await stage.post(path, { model: stage.model, ...body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param, code: 'invalid_request' } });
    expect(stage.journal()).toEqual([]);
  });

  test('a model of another kind, and an unknown model', async () => {
    const stage = await scene.stage();
    const wrong = await stage.post('/v1/embeddings', { model: stage.model, input: 'a' });
    expect(wrong.status).toBe(400);
    const unknown = await stage.post('/v1/rerank', { model: 'nobody', query: 'a', documents: ['a'] });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ error: { code: 'model_not_found', param: 'model' } });
  });

  test('after a failing provider the next target answers', async () => {
    const stage = await scene.stage({ kind: 'embed', targets: 2 });
    stage.scriptTarget(0, { status: 503, json: { error: { message: 'down' } } });
    stage.scriptTarget(1, vectorsAnswer([[1, 2]], 3));
    const response = await stage.post('/v1/embeddings', { model: stage.model, input: 'a' });
    expect(response.headers.get('x-modelport-attempts')).toBe('2');
    expect(((await response.json()) as Embeddings).data).toHaveLength(1);
    expect(nanoOf((await stage.settledCall()).cost)).toBe(3000n);
  });
});
