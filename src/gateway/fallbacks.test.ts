import { describe, expect, test } from 'bun:test';
import { chatRequest, errorAnswer, streamAnswer, wholeAnswer } from '../../test/helpers/chat-answers.ts';
import type { SentRequest } from '../../test/helpers/fake-transport.ts';
import { forTests } from '../../test/helpers/for-tests.ts';
import {
  FakeSink,
  type GatewayBench,
  type GatewayCase,
  PRICE,
  startGatewayBench,
} from '../../test/helpers/gateway-bench.ts';
import { fc } from '../../test/helpers/property.ts';
import type { Answer as UpstreamAnswer } from '../../test/upstream/answer.ts';
import { GatewayError } from '../canonical/errors.ts';
import { applyCatalogue } from '../catalog/apply.ts';
import type { Answer, ByteSource } from '../http1/answer.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

interface Fallback {
  /** Multiplies PRICE. */
  times?: number;
  on?: string[];
  fallbacks?: object[];
  model?: object;
}

/** A case whose model falls back to these, each at a provider of its own named after it. */
async function withFallbacks(fallbacks: { [name: string]: Fallback }, setup: Parameters<GatewayBench['open']>[0] = {}) {
  const names = Object.keys(fallbacks);
  const at = await bench.open(setup);
  const named = (name: string) => `${name}-${at.model}`;
  const providers = names.map((name) => ({
    name: `at-${named(name)}`,
    type: 'openai-compatible',
    baseUrl: `http://${name}.test/v1`,
  }));
  const rows = names.map((name) => {
    const { times = 1, fallbacks: further, model = {} } = fallbacks[name] ?? {};
    return {
      name: named(name),
      price: { input: PRICE.input * times, output: PRICE.output * times },
      maxOutputTokens: 100,
      targets: [{ provider: `at-${named(name)}`, model: `upstream-${name}` }],
      ...(further && { fallbacks: further.map((one) => renamed(one, named)) }),
      ...model,
    };
  });
  const [own] = (await bench.store.models()).filter(({ name }) => name === at.model);
  const first = {
    name: at.model,
    price: PRICE,
    maxOutputTokens: 100,
    targets: own?.targets,
    ...setup.model,
    fallbacks: names
      .filter((name) => fallbacks[name]?.on)
      .map((name) => ({ model: named(name), on: fallbacks[name]?.on })),
  };
  await applyCatalogue(bench.store, { providers, models: [...rows, first] }, 0);
  await at.deps.catalog.reload();
  return { ...at, named };
}

const renamed = (row: object, named: (name: string) => string) => ({
  ...row,
  model: named((row as { model: string }).model),
});

const TOO_LONG = { status: 400, json: { error: { message: 'Too long.', code: 'context_length_exceeded' } } };
const FILTERED = { status: 400, json: { error: { message: 'Filtered.', code: 'content_filter' } } };

const hosts = ({ transport }: GatewayCase) => transport.sent.map(({ host }) => host);
const bodyOf = ({ body }: Answer) => JSON.parse(Buffer.from(body as Uint8Array).toString());

/** A finish of the filter, with nothing before it. */
const filteredReply: UpstreamAnswer = {
  json: {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'content_filter' }],
    usage: { prompt_tokens: 11, completion_tokens: 0, total_tokens: 11 },
  },
};

describe('by reason', () => {
  test.each([
    ['context_length', TOO_LONG],
    ['unavailable', errorAnswer(503, 'down')],
    ['unavailable', errorAnswer(429, 'slow down')],
    ['content_filter', FILTERED],
    ['content_filter', filteredReply],
  ] as const)('%s: the next model answers, is named, and is what the call costs', async (reason, failure) => {
    const at = await withFallbacks({ big: { on: [reason], times: 3 } });
    at.transport.script(failure, wholeAnswer('from the other'));
    const answer = await at.serve(chatRequest(at.model));
    expect([answer.status, hosts(at)]).toEqual([200, ['p0.test', 'big.test']]);
    expect(bodyOf(answer)).toMatchObject({ model: at.named('big') });
    expect(at.transport.sent[1]?.body.model).toBe('upstream-big');
    const cost = 3n * (11n * 1000n + 7n * 4000n);
    expect(at.calls).toMatchObject([{ model: at.named('big'), cost, attempts: 2, targetModel: 'upstream-big' }]);
    expect([await at.spent(), await at.held()]).toEqual([cost, 0n]);
    const price = await bench.store.price(at.calls[0]?.priceId ?? '');
    expect(price?.model).toBe(at.named('big'));
  });

  test.each([
    ['a filter, where it is not named', ['context_length', 'unavailable'], FILTERED],
    ['a long context, where only failures are', ['unavailable'], TOO_LONG],
    ['a failure, where only a long context is', ['context_length'], errorAnswer(503, 'down')],
    ['a request that is wrong', ['context_length', 'unavailable', 'content_filter'], errorAnswer(400, 'top_k is odd')],
  ])('%s ends the call with that error', async (_, on, failure) => {
    const at = await withFallbacks({ big: { on } }, { model: { retries: 0 } });
    at.transport.script(failure);
    expect((await at.serve(chatRequest(at.model))).status).toBeGreaterThanOrEqual(400);
    expect(hosts(at)).toEqual(['p0.test']);
    expect(await at.spent()).toBe(0n);
  });

  test('a model whose context window is not larger is not tried', async () => {
    const at = await withFallbacks(
      { small: { on: ['context_length'], model: { contextTokens: 1000 } }, big: { on: ['context_length'] } },
      { model: { contextTokens: 1000 } },
    );
    at.transport.script(TOO_LONG, wholeAnswer('long'));
    await at.serve(chatRequest(at.model));
    expect(hosts(at)).toEqual(['p0.test', 'big.test']);
  });
});

describe('chains', () => {
  test('a fallback’s own fallbacks come before the next of the first model; each model is tried once', async () => {
    const at = await withFallbacks({
      c: { on: ['unavailable'] },
      a: { on: ['unavailable'], fallbacks: [{ model: 'b', on: ['context_length'] }] },
      b: { on: ['unavailable'], fallbacks: [{ model: 'c' }] },
    });
    // In the order of the file: c, a (and b for a long context), b.
    at.transport.script(errorAnswer(500, '1'), errorAnswer(500, '2'), TOO_LONG, wholeAnswer('b'));
    const answer = await at.serve(chatRequest(at.model));
    expect(hosts(at)).toEqual(['p0.test', 'c.test', 'a.test', 'b.test']);
    expect(bodyOf(answer).model).toBe(at.named('b'));
  });

  test('if none answers the error is that of the requested model', async () => {
    const at = await withFallbacks({ big: { on: ['context_length'], model: { retries: 0 } } });
    at.transport.script(TOO_LONG, errorAnswer(500, 'no'));
    const answer = await at.serve(chatRequest(at.model));
    expect(answer.status).toBe(400);
    expect(JSON.parse(String(answer.body)).error.code).toBe('context_length_exceeded');
    expect(answer.headers['x-modelport-attempts']).toBe('2');
    expect([await at.spent(), await at.held(), at.underWay.size]).toEqual([0n, 0n, 0]);
  });

  test('a model whose targets are all rate limited is skipped at once', async () => {
    const at = await withFallbacks({ big: { on: ['unavailable'] } });
    const [target] = at.deps.catalog.find(at.model)?.targets ?? [];
    const limited = new GatewayError('rate_limited', 'Wait.', { retryAfterSeconds: 30 });
    at.deps.catalog.another(target!, target!.credentials, limited);
    at.transport.script(wholeAnswer('big'));
    await at.serve(chatRequest(at.model));
    expect(hosts(at)).toEqual(['big.test']);
    expect(at.calls).toMatchObject([{ model: at.named('big'), attempts: 1 }]);
  });

  test('a model that the key may not call is no fallback', async () => {
    const at = await withFallbacks({ big: { on: ['unavailable'] } });
    at.caller.models = new Set([at.model]);
    at.transport.script(errorAnswer(500, 'no'));
    expect((await at.serve(chatRequest(at.model))).status).toBe(502);
    expect(hosts(at)).toEqual(['p0.test']);
  });
});

describe('money', () => {
  test('the hold is the maximum cost of any of them', async () => {
    const at = await withFallbacks({ big: { on: ['unavailable'], times: 5 } });
    at.transport.script(errorAnswer(500, 'no'));
    const serving = at.serve(chatRequest(at.model, { max_tokens: 50 }));
    const sent = await at.transport.next();
    const held = await at.held();
    sent.answer(wholeAnswer('big'));
    await serving;
    expect(held).toBeGreaterThan(5n * 50n * 4000n);
  });

  test('a balance that covers only the cheaper model does not cover the call', async () => {
    const at = await withFallbacks({ big: { on: ['unavailable'], times: 1000 } }, { balance: 1_000_000n });
    expect((await at.serve(chatRequest(at.model))).status).toBe(402);
    expect(hosts(at)).toEqual([]);
  });
});

test('property: whoever answers, a call is charged once, at that model’s price, and never above what was held', async () => {
  const every = ['context_length', 'unavailable', 'content_filter'];
  const times: { [name: string]: number } = { a: 3, b: 0.5, c: 10 };
  const at = await withFallbacks({
    a: { on: every, times: 3, fallbacks: [{ model: 'c', on: ['content_filter'] }] },
    b: { on: every, times: 0.5 },
    c: { times: 10 },
  });
  const timesOf = new Map([[at.model, 1], ...Object.entries(times).map(([name, by]) => [at.named(name), by] as const)]);
  const held: bigint[] = [];
  const { ledger } = at.deps;
  at.deps.ledger = {
    ...ledger,
    hold(request) {
      held.push(request.amount);
      return ledger.hold(request);
    },
  };
  let left: UpstreamAnswer[] = [];
  let last: UpstreamAnswer = {};
  const answerNext = (request: SentRequest) => {
    request.take();
    request.answer(left.shift() ?? last);
  };
  at.transport.script(...Array.from({ length: 2000 }, () => answerNext));
  const failures = [errorAnswer(500, 'no'), errorAnswer(429, 'no'), TOO_LONG, FILTERED, errorAnswer(400, 'wrong')];
  const usages = fc.record({ input: fc.nat(5), output: fc.integer({ min: 1, max: 100 }) });
  const failing = fc.array(fc.constantFrom(...failures), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(failing, usages, async (failed, { input, output }) => {
      at.turn(3_600_000);
      const before = await at.spent();
      const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
      const { json } = wholeAnswer('Yes.');
      left = [...failed];
      last = { json: { ...(json as object), usage } };
      const answer = await at.serve(chatRequest(at.model, { max_tokens: output }));
      const call = at.calls.at(-1);
      const spent = (await at.spent()) - before;
      const by = timesOf.get(call?.model ?? '') ?? 0;
      const price =
        answer.status === 200 ? ((BigInt(input) * 1000n + BigInt(output) * 4000n) * BigInt(by * 2)) / 2n : 0n;
      expect(call?.cost).toBe(spent);
      expect(spent).toBe(price);
      expect(spent).toBeLessThanOrEqual(held.at(-1) ?? 0n);
      expect(await at.held()).toBe(0n);
    }),
    { numRuns: 60 },
  );
  expect(at.calls.length).toBe(held.length);
});

describe('streams', () => {
  async function streamed(at: GatewayCase): Promise<string> {
    const answer = await at.serve(chatRequest(at.model, { stream: true }));
    const sink = new FakeSink();
    (answer.body as ByteSource).start(sink);
    await sink.over;
    return sink.text;
  }

  test.each([0, 60_000])('the model that answers is named in every event (keep-alive %p)', async (keepAliveMs) => {
    const at = await withFallbacks({ big: { on: ['unavailable'], times: 2 } }, { settings: { keepAliveMs } });
    at.transport.script(
      (request) => {
        request.take();
        setTimeout(() => request.answer(errorAnswer(500, 'no')), 5);
      },
      streamAnswer(['one', 'two']),
    );
    const text = await streamed(at);
    expect(text).toContain('two');
    expect(text).toContain(`"model":"${at.named('big')}"`);
    expect(text).not.toContain(`"model":"${at.model}"`);
    expect(at.calls).toMatchObject([{ model: at.named('big'), cost: 2n * (11n * 1000n + 7n * 4000n) }]);
  });

  test('a stream that the filter ends before its first content uses a fallback; one with content does not', async () => {
    const filtered = (text: string) => {
      const { events = [] } = streamAnswer([text]);
      const end = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' };
      const choices = [{ index: 0, delta: {}, finish_reason: 'content_filter' }];
      return { events: [...events.slice(0, text === '' ? 1 : 2), { ...end, choices }] };
    };
    const silent = await withFallbacks({ big: { on: ['content_filter'] } });
    silent.transport.script(filtered(''), streamAnswer(['elsewhere']));
    expect(await streamed(silent)).toContain('elsewhere');
    const spoken = await withFallbacks({ big: { on: ['content_filter'] } });
    spoken.transport.script(filtered('so far'));
    expect(await streamed(spoken)).toContain('so far');
    expect(hosts(spoken)).toEqual(['p0.test']);
  });
});

describe('names', () => {
  test('an alias is sent, answered and recorded as its model', async () => {
    const at = await bench.open();
    const alias = `alias-${at.model}`;
    const [row] = (await bench.store.models()).filter(({ name }) => name === at.model);
    const models = [{ name: at.model, price: PRICE, aliases: [alias], targets: row?.targets }];
    await applyCatalogue(bench.store, { models }, 0);
    await at.deps.catalog.reload();
    at.transport.script(wholeAnswer('hello'));
    const answer = await at.serve(chatRequest(alias));
    expect(bodyOf(answer).model).toBe(at.model);
    expect(at.transport.sent[0]?.body.model).toBe('upstream');
    expect(at.calls).toMatchObject([{ model: at.model }]);
  });

  test('a wildcard sends, returns and records the requested name', async () => {
    const at = await bench.open();
    const [row] = (await bench.store.models()).filter(({ name }) => name === at.model);
    const targets = row?.targets.map((target) => ({ ...target, model: '*' }));
    await applyCatalogue(bench.store, { models: [{ name: `${at.model}-*`, price: PRICE, targets }] }, 0);
    await at.deps.catalog.reload();
    at.transport.script(wholeAnswer('hello'));
    const answer = await at.serve(chatRequest(`${at.model}-large`));
    expect(bodyOf(answer).model).toBe(`${at.model}-large`);
    expect(at.transport.sent[0]?.body.model).toBe(`${at.model}-large`);
    expect(at.calls).toMatchObject([{ model: `${at.model}-large`, cost: 11n * 1000n + 7n * 4000n }]);
    expect((await at.serve(chatRequest(`${at.model}-*`))).status).toBe(404);
  });

  test('a key’s own alias has precedence over a model of that name', async () => {
    const at = await bench.open();
    const other = await bench.open();
    at.caller.aliases = new Map([[at.model, other.model]]);
    at.transport.script(wholeAnswer('hello'));
    await at.serve(chatRequest(at.model));
    expect(at.calls).toMatchObject([{ model: other.model }]);
  });
});
