import { describe, expect, test } from 'bun:test';
import { cacheBench, cacheStatus, contentOf, expectClean, HOUR, textOf } from '../../../test/helpers/cache-case.ts';
import { chatRequest, streamAnswer, wholeAnswer } from '../../../test/helpers/chat-answers.ts';
import { type CaseSetup, PRICE } from '../../../test/helpers/gateway-bench.ts';
import { messageAnswer } from '../../../test/helpers/message-answer.ts';
import type { Answer } from '../../http1/answer.ts';
import type { KeyRow } from '../../store/rows.ts';

const caching = cacheBench();

const open = (setup: CaseSetup = {}) => caching.open(setup);
/** In USD: 700 nano-USD. */
const HIT = 0.0000007;
const priced = (setup: CaseSetup = {}) => open({ ...setup, model: { price: { ...PRICE, perCacheHit: HIT } } });
const HELLO = 'Hello from upstream';

describe('a hit', () => {
  test('has the stored reply, costs nothing by default, and is marked in headers and record', async () => {
    const at = await open();
    at.transport.script(wholeAnswer(HELLO));
    const first = await at.serve(chatRequest(at.model));
    const spent = await at.spent();
    const second = await at.serve(chatRequest(at.model));
    expect([cacheStatus(first), cacheStatus(second)]).toEqual(['miss', 'hit']);
    expect(JSON.parse(await textOf(second))).toMatchObject({
      model: at.model,
      choices: [{ message: { role: 'assistant', content: HELLO }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    });
    expect(second.headers).toMatchObject({ 'x-modelport-cost': '0', 'x-modelport-attempts': '0' });
    expect(second.headers).not.toHaveProperty('x-modelport-provider');
    expect(at.calls[1]).toMatchObject({ outcome: 'ok', status: 200, cost: 0n, attempts: 0, provider: '' });
    expect(at.calls[1]?.usage).toEqual({ input: 11, output: 7, source: 'cached' });
    expect([at.transport.sent.length, await at.spent()]).toEqual([1, spent]);
    await expectClean(at);
  });

  test.each([
    [true, false],
    [false, true],
    [true, true],
  ])('streaming %p is stored and served to streaming %p', async (stored, served) => {
    const at = await open();
    at.transport.script(stored ? streamAnswer(['Hello ', 'from ', 'upstream']) : wholeAnswer(HELLO));
    const body = (stream: boolean) =>
      chatRequest(at.model, stream ? { stream, stream_options: { include_usage: true } } : {});
    const first = await textOf(await at.serve(body(stored)));
    expect(first).toContain('upstream');
    const hit = await at.serve(body(served));
    const text = await textOf(hit);
    expect([cacheStatus(hit), at.calls[1]?.stream, at.transport.sent.length]).toEqual(['hit', served, 1]);
    if (served) {
      expect(hit.headers['content-type']).toStartWith('text/event-stream');
      const events = text.split('\n\n').filter((line) => line.startsWith('data: {'));
      const chunks = events.map((line) => JSON.parse(line.slice(6)));
      expect(chunks.map(({ choices }) => choices[0]?.delta?.content ?? '').join('')).toBe(HELLO);
      expect(chunks.at(-1).usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 7 });
      expect(text).toEndWith('data: [DONE]\n\n');
    } else expect(JSON.parse(text).choices[0].message.content).toBe(HELLO);
    await expectClean(at);
  });

  test('is served in every format of the same request, each with an entry of its own', async () => {
    const at = await open();
    at.transport.script(wholeAnswer('one'), wholeAnswer('two'));
    const messages = { model: at.model, max_tokens: 10, messages: [{ role: 'user', content: 'Say hello.' }] };
    const asAnthropic = (stream: boolean) =>
      at.serve(
        { ...messages, stream },
        { dialect: 'anthropic-messages', headers: { 'anthropic-version': '2023-06-01' } },
      );
    await at.serve(messages);
    expect(cacheStatus(await asAnthropic(false))).toBe('miss');
    expect(JSON.parse(await textOf(await asAnthropic(false)))).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text: 'two' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 11, output_tokens: 7 },
    });
    const streamed = await textOf(await asAnthropic(true));
    expect(streamed).toContain('"text":"two"');
    expect(streamed).toContain('message_stop');
    expect(streamed).toContain('"input_tokens":11');
    expect(at.transport.sent).toHaveLength(2);
    await expectClean(at);
  });

  const prompt = 'Say hello.';
  test.each<[string, (stream: boolean) => object]>([
    ['openai-chat', (stream) => ({ messages: [{ role: 'user', content: prompt }], stream })],
    ['openai-responses', (stream) => ({ input: prompt, store: false, stream })],
    ['openai-completions', (stream) => ({ prompt: prompt, stream })],
    ['gemini', () => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] })],
  ])('%s: a translated reply is returned again from the cache, also as a stream', async (dialect, body) => {
    const at = await open({ type: 'anthropic' });
    at.transport.script({ json: messageAnswer('Ja', { input_tokens: 2, output_tokens: 1 }) });
    const ask = (stream: boolean) => {
      const path = { model: at.model, action: stream ? 'streamGenerateContent' : 'generateContent' };
      return at.serve({ ...(dialect === 'gemini' ? {} : { model: at.model }), ...body(stream) }, { dialect, path });
    };
    const withoutIds = async (answer: Answer) =>
      (await textOf(answer)).replace(/"(id|item_id|responseId)":"[^"]+"/g, '');
    const first = await ask(false);
    const again = await ask(false);
    expect([cacheStatus(first), cacheStatus(again)]).toEqual(['miss', 'hit']);
    expect(await withoutIds(again)).toBe(await withoutIds(first));
    const streamed = await ask(true);
    expect([cacheStatus(streamed), await textOf(streamed)]).toEqual(['hit', expect.stringContaining('Ja')]);
    expect(at.transport.sent).toHaveLength(1);
    await expectClean(at);
  });

  test('tool calls and several choices are returned again, non-streaming and as a stream', async () => {
    const at = await open();
    const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } };
    const message = { role: 'assistant', content: null, refusal: null, tool_calls: [call] };
    const answer = wholeAnswer('one');
    const { choices } = answer.json as { choices: object[] };
    choices.push({ index: 1, message, finish_reason: 'tool_calls', logprobs: null });
    at.transport.script(answer);
    const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
    const ask = (stream: boolean) => at.serve(chatRequest(at.model, { n: 2, tools, stream }));
    const [first, again] = [await ask(false), await ask(false)];
    expect([cacheStatus(first), cacheStatus(again)]).toEqual(['miss', 'hit']);
    const [original, repeated] = [JSON.parse(await textOf(first)), JSON.parse(await textOf(again))];
    expect(repeated.choices).toEqual(original.choices);
    expect(repeated.choices[1]).toMatchObject({ message: { tool_calls: [call] }, finish_reason: 'tool_calls' });
    const streamed = await textOf(await ask(true));
    for (const piece of ['weather', 'Bern', 'call_1', '"finish_reason":"tool_calls"'])
      expect(streamed).toContain(piece);
    expect(at.transport.sent).toHaveLength(1);
    await expectClean(at);
  });

  test('embeddings are returned again with the same numbers', async () => {
    const at = await open({ model: { kind: 'embed' } });
    const embedding = [0.1, -1e-9, 3];
    const usage = { prompt_tokens: 2, total_tokens: 2 };
    at.transport.script({
      json: { object: 'list', model: 'x', data: [{ object: 'embedding', index: 0, embedding }], usage },
    });
    const ask = () => at.serve({ model: at.model, input: 'Hello' }, { dialect: 'openai-embeddings' });
    const [first, again] = [await ask(), await ask()];
    expect([cacheStatus(first), cacheStatus(again)]).toEqual(['miss', 'hit']);
    expect(JSON.parse(await textOf(again))).toEqual(JSON.parse(await textOf(first)));
    expect(JSON.parse(await textOf(again)).data[0].embedding).toEqual(embedding);
    await expectClean(at);
  });

  test('costs exactly its price, by the current price version', async () => {
    const at = await priced();
    at.transport.script(wholeAnswer(HELLO));
    await at.serve(chatRequest(at.model));
    const before = await at.spent();
    expect((await at.serve(chatRequest(at.model))).headers['x-modelport-cost']).toBe('0.0000007');
    expect(await at.spent()).toBe(before + 700n);
    const price = { ...PRICE, perCacheHit: 0.000001 };
    await caching.bench.change({ name: at.model, price, targets: [{ provider: `p0-${at.model}`, model: 'upstream' }] });
    expect(cacheStatus(await at.serve(chatRequest(at.model)))).toBe('hit');
    expect(await at.spent()).toBe(before + 1700n);
    expect(at.calls[1]?.priceId).not.toBe(at.calls[2]?.priceId);
    await expectClean(at);
  });
});

describe('savings of caches', () => {
  const cachedTokens = (text: string) => {
    const answer = wholeAnswer(text);
    (answer.json as { usage: object }).usage = {
      prompt_tokens: 1000,
      completion_tokens: 10,
      total_tokens: 1010,
      prompt_tokens_details: { cached_tokens: 800 },
    };
    return answer;
  };

  test('are in the record and in the sums of the account, from the provider’s cache and from ours', async () => {
    const at = await priced();
    at.transport.script(cachedTokens('one'), wholeAnswer('two'));
    await at.serve(chatRequest(at.model));
    await at.serve(chatRequest(at.model));
    await at.serve(chatRequest(at.model, { temperature: 1 }));
    const uncached = 1000n * 1000n + 10n * 4000n;
    expect(at.calls.map(({ saved }) => saved)).toEqual([400_000n, uncached - 700n, undefined]);
    expect(at.calls.map(({ cost }) => cost)).toEqual([uncached - 400_000n, 700n, 39_000n]);
    const range = { account: at.caller.account, from: 0, to: at.deps.now() + 1 };
    const [sum] = await caching.bench.store.usage({ ...range, groupBy: ['model'] });
    expect(sum).toMatchObject({ calls: 3, saved: 400_000n + uncached - 700n });
  });
});

describe('access', () => {
  test('other accounts and keys without a cache get nothing', async () => {
    const at = await open();
    at.transport.script(wholeAnswer('one'), wholeAnswer('two'), wholeAnswer('three'));
    await at.serve(chatRequest(at.model));
    const other = await at.serve(chatRequest(at.model), { key: await at.another() });
    expect([cacheStatus(other), await contentOf(other)]).toEqual(['miss', 'two']);
    const plain = await at.serve(chatRequest(at.model), { key: await caching.secondKey(at, {}) });
    expect([cacheStatus(plain), await contentOf(plain)]).toEqual([undefined, 'three']);
  });

  test('another key of the account gets replies up to its maximum age', async () => {
    const at = await open();
    at.transport.script(wholeAnswer('one'), wholeAnswer('two'));
    const short = await caching.secondKey(at, { cacheSeconds: 60 });
    await at.serve(chatRequest(at.model));
    at.turn(30_000);
    expect(await contentOf(await at.serve(chatRequest(at.model), { key: short }))).toBe('one');
    at.turn(31_000);
    expect(await contentOf(await at.serve(chatRequest(at.model), { key: short }))).toBe('two');
  });

  test('a key that may not call the model, a disabled one and one without the scope get nothing', async () => {
    const at = await open();
    at.transport.script(wholeAnswer('one'));
    await at.serve(chatRequest(at.model));
    const refusal = async (more: Partial<KeyRow>) => {
      const key = await caching.secondKey(at, { cacheSeconds: HOUR, ...more });
      const answer = await at.serve(chatRequest(at.model), { key });
      return [answer.status, JSON.parse(String(answer.body)).error.code];
    };
    expect(await refusal({ models: ['other'] })).toEqual([403, 'model_not_allowed']);
    expect(await refusal({ disabledAt: at.deps.now() })).toEqual([401, 'key_disabled']);
    expect(await refusal({ scopes: ['embeddings'] })).toEqual([403, 'scope_not_allowed']);
    expect(at.calls).toHaveLength(1);
    await expectClean(at);
  });

  test('limits per minute count a hit as a request, and its tokens not again', async () => {
    const at = await open();
    at.transport.script(wholeAnswer('one'));
    await at.serve(chatRequest(at.model));
    const key = await caching.secondKey(at, { cacheSeconds: HOUR, requestsPerMinute: 2, tokensPerMinute: 150 });
    const ask = () => at.serve(chatRequest(at.model), { key });
    const first = await ask();
    expect(first.headers).toMatchObject({
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-remaining-tokens': '150',
    });
    expect([cacheStatus(first), cacheStatus(await ask()), (await ask()).status]).toEqual(['hit', 'hit', 429]);
    await expectClean(at);
  });

  test('a balance or budget that does not cover the price of a hit: 402, and nothing is returned', async () => {
    const at = await priced();
    at.transport.script(wholeAnswer('one'));
    await at.serve(chatRequest(at.model));
    const key = await caching.secondKey(at, { cacheSeconds: HOUR, budget: { total: 1000n } });
    expect(cacheStatus(await at.serve(chatRequest(at.model), { key }))).toBe('hit');
    const refused = await at.serve(chatRequest(at.model), { key });
    expect([refused.status, JSON.parse(String(refused.body)).error.code]).toEqual([402, 'budget_exhausted']);
    const { available } = (await at.deps.ledger.balance(at.caller.account)) ?? { available: 0n };
    await at.deps.ledger.topUp(at.caller.account, 699n - available, { kind: 'adjustment', at: at.deps.now() });
    const broke = await at.serve(chatRequest(at.model));
    expect([broke.status, JSON.parse(String(broke.body)).error.code]).toEqual([402, 'insufficient_balance']);
    await expectClean(at);
  });
});
