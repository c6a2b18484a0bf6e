import { describe, expect, test } from 'bun:test';
import { cacheBench, cacheStatus, contentOf, expectClean, HOUR, textOf } from '../../../test/helpers/cache-case.ts';
import { chatRequest, errorAnswer, streamAnswer, wholeAnswer } from '../../../test/helpers/chat-answers.ts';
import { type CaseSetup, FakeSink, type GatewayCase, PRICE } from '../../../test/helpers/gateway-bench.ts';
import { newId } from '../../canonical/id.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { dialectNamed } from '../../dialects/index.ts';
import type { ByteSource } from '../../http1/answer.ts';
import { createLedger } from '../../ledger/prepaid-ledger.ts';
import { ReplyRecorder, readStoredReply } from './stored-reply.ts';

const caching = cacheBench();

const open = (setup: CaseSetup = {}) => caching.open(setup);

describe('equality of requests', () => {
  test.each<[string, object, boolean]>([
    ['another end user', { user: 'u2' }, true],
    ['other metadata', { metadata: { trace: '2' } }, true],
    ['another cache key', { prompt_cache_key: 'k' }, true],
    ['a stream', { stream: true }, true],
    ['another temperature', { temperature: 0.5 }, false],
    ['another seed', { seed: 2 }, false],
    ['an unknown member', { some_member: 1 }, false],
    ['other messages', { messages: [{ role: 'user', content: 'Say hello!' }] }, false],
    ['a wish', { provider: { sort: 'price' } }, false],
  ])('%s', async (_, more, isSame) => {
    const at = await open();
    const isStream = 'stream' in more;
    at.transport.script(wholeAnswer('one'), isStream ? streamAnswer(['two']) : wholeAnswer('two'));
    await at.serve(chatRequest(at.model, { temperature: 0, user: 'u1' }));
    const again = await at.serve(chatRequest(at.model, { temperature: 0, user: 'u1', ...more }));
    expect(cacheStatus(again)).toBe(isSame ? 'hit' : 'miss');
    await textOf(again);
  });

  test('numbers are compared as they are written, not as they are read', async () => {
    const at = await open();
    const key = await caching.secondKey(at, { cacheSeconds: HOUR });
    at.transport.script(wholeAnswer('one'), wholeAnswer('two'));
    const ask = async (seed: string) => {
      const body = Buffer.from(
        JSON.stringify(chatRequest(at.model, { seed: 0 })).replace('"seed":0', `"seed":${seed}`),
      );
      const read = () => ({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });
      const rest = { announcedBytes: undefined, client: at.client, read };
      const dialect = dialectNamed('openai-chat') as Dialect;
      return cacheStatus(
        await at.gateway.serve(dialect, { key, address: '127.0.0.1', requestId: newId('req_'), ...rest }),
      );
    };
    // One number in JavaScript.
    expect([await ask('9007199254740992'), await ask('9007199254740993')]).toEqual(['miss', 'miss']);
    expect(await ask('9007199254740993')).toBe('hit');
  });

  test('an alias and the alias of a key mean the model; a changed target is another one', async () => {
    const alias = `alias-${newId('')}`;
    const at = await open({ model: { aliases: [alias] } });
    at.transport.script(wholeAnswer('one'), wholeAnswer('two'));
    await at.serve(chatRequest(at.model));
    const key = await caching.secondKey(at, { cacheSeconds: HOUR, aliases: { best: at.model } });
    expect(cacheStatus(await at.serve(chatRequest(alias)))).toBe('hit');
    const byKey = await at.serve(chatRequest('best'), { key });
    expect([cacheStatus(byKey), JSON.parse(await textOf(byKey)).model]).toEqual(['hit', at.model]);
    await caching.bench.change({ name: at.model, targets: [{ provider: `p0-${at.model}`, model: 'newer' }] });
    const changed = await at.serve(chatRequest(at.model));
    expect([cacheStatus(changed), await contentOf(changed)]).toEqual(['miss', 'two']);
  });

  test('no-cache asks a provider and stores its reply, no-store does neither', async () => {
    const at = await open();
    at.transport.script(wholeAnswer('one'), wholeAnswer('two'), wholeAnswer('three'));
    await at.serve(chatRequest(at.model));
    const serveWith = (value: string) => at.serve(chatRequest(at.model), { headers: { 'cache-control': value } });
    const without = await serveWith('no-store');
    expect([cacheStatus(without), await contentOf(without)]).toEqual(['bypass', 'two']);
    const fresh = await serveWith('No-Cache');
    expect([cacheStatus(fresh), await contentOf(fresh)]).toEqual(['miss', 'three']);
    expect(await contentOf(await at.serve(chatRequest(at.model)))).toBe('three');
  });

  test('concurrent calls are all sent, and each is charged', async () => {
    const at = await open();
    at.transport.script(wholeAnswer('one'), wholeAnswer('two'));
    const both = await Promise.all([at.serve(chatRequest(at.model)), at.serve(chatRequest(at.model))]);
    expect(both.map(cacheStatus)).toEqual(['miss', 'miss']);
    expect(at.calls.map(({ cost }) => cost)).toEqual([39_000n, 39_000n]);
    expect(cacheStatus(await at.serve(chatRequest(at.model)))).toBe('hit');
    await expectClean(at);
  });
});

describe('what is not stored', () => {
  /** The second of two equal calls, after the first has ended with the given answer. */
  async function afterwards(
    answer: Parameters<GatewayCase['transport']['script']>[0],
    body: object = {},
    setup: CaseSetup = {},
  ) {
    const at = await open({ ...setup, model: { retries: 0, ...setup.model } });
    at.transport.script(answer, wholeAnswer('again'));
    const first = await at.serve(chatRequest(at.model, { ...body }));
    if (first.body && typeof first.body === 'object' && 'start' in first.body) {
      const sink = new FakeSink();
      (first.body as ByteSource).start(sink);
      await sink.over;
    }
    const { stream: _, ...rest } = body as { stream?: boolean };
    return cacheStatus(await at.serve(chatRequest(at.model, rest)));
  }
  const ended = (reason: string) => {
    const answer = wholeAnswer('part');
    (answer.json as { choices: { finish_reason: string }[] }).choices[0]!.finish_reason = reason;
    return answer;
  };
  const started = (streamAnswer(['Hel', 'lo']).events ?? []).slice(0, 3);
  const broken: Parameters<GatewayCase['transport']['script']>[0] = (request) => {
    request.take();
    request.beginStream();
    request.pushEvents(...started);
    queueMicrotask(() => request.exchange.broke(new Error('cut')));
  };

  test.each<[string, Parameters<typeof afterwards>, string]>([
    ['an error', [errorAnswer(400, 'no')], 'miss'],
    ['a filtered reply', [ended('content_filter')], 'miss'],
    ['a stream that broke off', [broken, { stream: true }], 'miss'],
    ['a stream without a reason of its end', [{ events: started }, { stream: true }], 'miss'],
    ['a huge reply', [wholeAnswer('x'.repeat(1024 * 1024)), {}, { settings: { maxReplyBytes: 5_000_000 } }], 'miss'],
    ['a reply at its length limit is stored', [ended('length')], 'hit'],
    ['what is to be stored at the provider', [wholeAnswer('one'), { store: true }], 'bypass'],
    ['a search by a member', [wholeAnswer('one'), { search_parameters: { mode: 'on' } }], 'bypass'],
    ['a search by a plugin', [wholeAnswer('one'), { plugins: [{ id: 'web' }] }], 'bypass'],
    ['a search by a flag', [wholeAnswer('one'), { enable_search: true }], 'bypass'],
    [
      'an image by URL',
      [
        wholeAnswer('one'),
        {
          messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.invalid/a.png' } }] }],
        },
      ],
      'bypass',
    ],
  ])('%s', async (_, args, expected) => {
    expect(await afterwards(...args)).toBe(expected);
  });

  test.each([true, false])(
    'a response that is to be stored, here or at the provider (here: %p)',
    async (keepsResponses) => {
      const at = await open();
      Object.assign(at.deps, { memory: { ...at.deps.memory, keepsResponses } });
      at.transport.script(wholeAnswer('one'), wholeAnswer('two'));
      const ask = () => at.serve({ model: at.model, input: 'Hi' }, { dialect: 'openai-responses' });
      expect([cacheStatus(await ask()), cacheStatus(await ask())]).toEqual(['bypass', 'bypass']);
      expect(at.transport.sent).toHaveLength(2);
    },
  );

  test('the reply of a fallback model: the requested one may be back', async () => {
    const other = await open();
    const at = await open({ model: { retries: 0, fallbacks: [{ model: other.model, on: ['unavailable'] }] } });
    at.transport.script(errorAnswer(503, 'down'), wholeAnswer('other'), wholeAnswer('own'));
    const first = await at.serve(chatRequest(at.model));
    expect(JSON.parse(await textOf(first)).model).toBe(other.model);
    expect(cacheStatus(await at.serve(chatRequest(at.model)))).toBe('miss');
    await expectClean(at);
  });

  test('a reply with a reasoning signature', async () => {
    const at = await open({ type: 'anthropic' });
    const content = [
      { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { type: 'text', text: 'yes' },
    ];
    const usage = { input_tokens: 11, output_tokens: 7 };
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'upstream',
      content,
      stop_reason: 'end_turn',
      usage,
    };
    at.transport.script({ json: message }, { json: message });
    const ask = () =>
      at.serve(
        { model: at.model, max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] },
        { dialect: 'anthropic-messages', headers: { 'anthropic-version': '2023-06-01' } },
      );
    expect([cacheStatus(await ask()), cacheStatus(await ask())]).toEqual(['miss', 'miss']);
  });
});

describe('what is stored', () => {
  test('expires, and a failing store fails no call', async () => {
    const at = await open();
    at.transport.script(wholeAnswer('one'), wholeAnswer('two'), wholeAnswer('three'));
    await at.serve(chatRequest(at.model));
    at.turn(HOUR * 1000);
    expect(await contentOf(await at.serve(chatRequest(at.model)))).toBe('two');
    const { replies } = at.deps.memory;
    const { find, put } = replies;
    Object.assign(replies, {
      find: () => Promise.reject(new Error('gone')),
      put: () => Promise.reject(new Error('gone')),
    });
    const answer = await at.serve(chatRequest(at.model));
    Object.assign(replies, { find, put });
    expect([answer.status, await contentOf(answer), at.troubles.length]).toEqual([200, 'three', 2]);
    expect(await at.held()).toBe(0n);
  });

  test('the hold of a hit in a killed process is released: nothing was sent', async () => {
    const at = await open({ model: { price: { ...PRICE, perCacheHit: 0.0000007 } } });
    at.transport.script(wholeAnswer('one'));
    await at.serve(chatRequest(at.model));
    const spent = await at.spent();
    const { settle } = at.deps.ledger;
    let reached = () => {};
    const settling = new Promise<void>((resolve) => {
      reached = resolve;
    });
    Object.assign(at.deps.ledger, {
      settle() {
        reached();
        return new Promise(() => {});
      },
    });
    void at.serve(chatRequest(at.model));
    await settling;
    Object.assign(at.deps.ledger, { settle });
    const [hold] = (await caching.bench.store.holds()).filter(({ account }) => account === at.caller.account);
    expect(hold).toMatchObject({ amount: 700n });
    expect(hold).not.toHaveProperty('sentAt');
    const other = createLedger({ store: caching.bench.store, owner: 'other', now: at.deps.now });
    await other.renew();
    await other.sweep(at.deps.now(), () => 'gone');
    await at.deps.ledger.renew();
    expect([await at.held(), await at.spent()]).toEqual([0n, spent]);
  });
});

describe('the stored form', () => {
  const events: ReplyEvent[] = [
    { type: 'reply-start', id: 'r', model: 'm' },
    { type: 'part-start', choice: 0, part: 0, opens: { type: 'text' } },
    { type: 'part-delta', choice: 0, part: 0, delta: 'Hel' },
    { type: 'part-delta', choice: 0, part: 0, delta: 'lo' },
    { type: 'choice-end', choice: 0, finish: { reason: 'stop', raw: 'stop' } },
    { type: 'reply-end' },
  ];
  const usage: Usage = { input: 11, output: 7, source: 'reported' };
  const recorded = (seen: readonly ReplyEvent[]) => {
    let kept = 0;
    const recorder = new ReplyRecorder((bytes) => {
      kept += bytes;
    });
    recorder.see([{ bytes: new Uint8Array(), events: seen }]);
    return { recorder, kept: () => kept };
  };

  test('has the text in one piece, the charged usage, and nothing of a slower target', () => {
    const { recorder, kept } = recorded(events);
    const hedge = { provider: 'p', targetModel: 't', cost: '0.1', usage };
    const stored = readStoredReply(recorder.write({ ...usage, hedge }, ['lost']) ?? '');
    expect(stored?.usage).toEqual({ ...usage, source: 'cached' });
    expect(stored?.warnings).toEqual(['lost']);
    expect(stored?.events[2]).toEqual({ type: 'part-delta', choice: 0, part: 0, delta: 'Hello' });
    expect(kept()).toBeGreaterThan(5);
    // The events that passed are not changed.
    expect(events[2]).toMatchObject({ delta: 'Hel' });
  });

  test.each<[string, ReplyEvent[]]>([
    ['without its end', events.slice(0, -1)],
    [
      'with an open choice',
      [...events.slice(0, 5), { type: 'part-start', choice: 1, part: 0, opens: { type: 'text' } }, events[5]!],
    ],
    [
      'with an image',
      [{ type: 'part-start', choice: 0, part: 1, opens: { type: 'image', mimeType: 'image/png' } }, ...events],
    ],
    [
      'with a block of one provider',
      [{ type: 'part-start', choice: 0, part: 1, opens: { type: 'native', dialect: 'd', item: {} } }, ...events],
    ],
    ['with audio', [{ type: 'result', result: { type: 'audio', bytes: new Uint8Array() } }, ...events]],
  ])('a reply %s has none', (_, seen) => {
    expect(recorded(seen).recorder.write(usage, [])).toBeUndefined();
  });

  test('a reply for which the provider ran a tool has none; one of another version is not read', () => {
    expect(recorded(events).recorder.write({ ...usage, serverToolCalls: 1 }, [])).toBeUndefined();
    const text = recorded(events).recorder.write(usage, []) ?? '';
    expect(readStoredReply(text.replace('"version":1', '"version":0'))).toBeUndefined();
  });
});
