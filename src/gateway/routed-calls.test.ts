import { describe, expect, test } from 'bun:test';
import { chatRequest, errorAnswer, streamAnswer, wholeAnswer } from '../../test/helpers/chat-answers.ts';
import type { SentRequest } from '../../test/helpers/fake-transport.ts';
import { forTests } from '../../test/helpers/for-tests.ts';
import { type GatewayCase, startGatewayBench } from '../../test/helpers/gateway-bench.ts';
import type { Answer } from '../http1/answer.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

const hosts = ({ transport }: GatewayCase) => transport.sent.map(({ host }) => host);
const keyOf = ({ sending }: SentRequest) => sending.headers.authorization;

/** Answers every request by what `answer` makes of it. */
function answerAll(at: GatewayCase, count: number, answer: (request: SentRequest) => void): void {
  at.transport.script(...Array.from({ length: count }, () => answer));
}

async function statuses(at: GatewayCase, calls: number, body: object = chatRequest(at.model)): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < calls; i++) all.push((await at.serve(body)).status);
  return all;
}

const whole = (request: SentRequest, text = 'Hello') => {
  request.take();
  request.answer(wholeAnswer(text));
};
const refuse = (request: SentRequest, status: number, headers: { [name: string]: string } = {}) => {
  request.take();
  request.answer(errorAnswer(status, 'no', { headers }));
};

/** Two targets of one priority. */
async function openEqual(more: { [member: string]: unknown } = {}): Promise<GatewayCase> {
  const at = await bench.open({ targets: 2 });
  const model = at.deps.catalog.find(at.model)!;
  const targets = model.targets.map(({ provider }) => ({ provider, model: 'upstream' }));
  await bench.change({ name: at.model, targets, ...more });
  return at;
}

describe('credentials', () => {
  test('[good, spent]: 40 of 40 calls succeed, and the spent one is called once in its 20 s', async () => {
    const at = await bench.open({ credentials: 2 });
    answerAll(at, 41, (request) =>
      keyOf(request)?.endsWith('1') ? refuse(request, 429, { 'retry-after': '20' }) : whole(request),
    );
    expect(await statuses(at, 40)).toEqual(Array(40).fill(200));
    expect(at.transport.sent).toHaveLength(41);
  });

  test('[good, dead]: 40 of 40 calls succeed', async () => {
    const at = await bench.open({ credentials: 2 });
    answerAll(at, 41, (request) => (keyOf(request)?.endsWith('1') ? refuse(request, 401) : whole(request)));
    expect(await statuses(at, 40)).toEqual(Array(40).fill(200));
    expect(at.transport.sent).toHaveLength(41);
  });

  test('a rate limit of the only credential is returned to later calls without calling the provider', async () => {
    const at = await bench.open();
    answerAll(at, 1, (request) => refuse(request, 429, { 'retry-after': '20' }));
    expect(await statuses(at, 2)).toEqual([429, 429]);
    expect(at.transport.sent).toHaveLength(1);
    at.turn(20_000);
    answerAll(at, 1, whole);
    expect(await statuses(at, 1)).toEqual([200]);
  });

  test('a rate limit without a retry time does not block the only target', async () => {
    const at = await bench.open({ model: { retries: 0 } });
    answerAll(at, 1, (request) => refuse(request, 429));
    answerAll(at, 2, whole);
    expect(await statuses(at, 3)).toEqual([429, 200, 200]);
  });

  test('remaining limits that a provider reports are obeyed before it answers 429', async () => {
    const at = await bench.open({ credentials: 2 });
    answerAll(at, 3, (request) => {
      request.take();
      const left = keyOf(request)?.endsWith('0') ? '0' : '100';
      const headers = { 'x-ratelimit-remaining-requests': left, 'x-ratelimit-reset-requests': '30s' };
      request.answer({ ...wholeAnswer('Hello'), headers });
    });
    expect(await statuses(at, 3)).toEqual([200, 200, 200]);
    expect(at.transport.sent.map(keyOf)).toEqual(['Bearer sk-secret-0', 'Bearer sk-secret-1', 'Bearer sk-secret-1']);
  });
});

describe('the only target', () => {
  for (const [what, fail] of [
    ['429 without a time', (request: SentRequest) => refuse(request, 429)],
    ['500', (request: SentRequest) => refuse(request, 500)],
    ['503', (request: SentRequest) => refuse(request, 503)],
    ['a reset of a fresh connection', (request: SentRequest) => request.exchange.broke(new Error('reset'))],
    [
      'a reset after the request was sent',
      (request: SentRequest) => {
        request.take();
        request.exchange.broke(new Error('reset'));
      },
    ],
  ] as const) {
    test(`${what} is tried again, and charged once`, async () => {
      const at = await bench.open();
      at.transport.script(fail, (request) => whole(request));
      const answer = await at.serve(chatRequest(at.model));
      expect([answer.status, answer.headers['x-modelport-attempts']]).toEqual([200, '2']);
      const [call] = at.calls;
      expect([call?.outcome, call?.attempts]).toEqual(['ok', 2]);
      expect(await at.spent()).toBe(call!.cost);
      expect(await at.held()).toBe(0n);
    });
  }

  test('at most three attempts are made; nothing is charged if all fail', async () => {
    const at = await bench.open();
    answerAll(at, 4, (request) => refuse(request, 500));
    expect(await statuses(at, 1)).toEqual([502]);
    expect(at.transport.sent).toHaveLength(3);
    expect(await at.spent()).toBe(0n);
  });

  test('an incomplete response is not retried: it may have been billed', async () => {
    const at = await bench.open();
    at.transport.script((request) => {
      request.take();
      request.begin();
      request.push('{"choices":');
      request.exchange.broke(new Error('cut'));
    });
    expect(await statuses(at, 1)).toEqual([502]);
    expect(at.transport.sent).toHaveLength(1);
  });

  test('a split call is not retried after parts were answered', async () => {
    const at = await bench.open({ type: 'anthropic' });
    let requestCount = 0;
    const reply = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'hi' }] };
    const usage = { input_tokens: 1, output_tokens: 1 };
    answerAll(at, 12, (request) => {
      request.take();
      if (++requestCount % 4 === 0) request.answer(errorAnswer(500, 'no'));
      else request.answer({ json: { ...reply, stop_reason: 'end_turn', stop_sequence: null, usage } });
    });
    expect(await statuses(at, 1, chatRequest(at.model, { n: 4 }))).toEqual([502]);
    expect(at.transport.sent).toHaveLength(4);
  });

  test('with `retries: 0` nothing is retried', async () => {
    const at = await bench.open({ model: { retries: 0 } });
    answerAll(at, 1, (request) => refuse(request, 500));
    expect(await statuses(at, 1)).toEqual([502]);
    expect(at.transport.sent).toHaveLength(1);
  });
});

test('`retries: 2` tries the same target first', async () => {
  const at = await bench.open({ targets: 2, model: { retries: 2 } });
  at.transport.script(
    (request) => refuse(request, 500),
    (request) => refuse(request, 500),
    (request) => refuse(request, 500),
    (request) => whole(request),
  );
  expect(await statuses(at, 1)).toEqual([200]);
  expect(hosts(at)).toEqual(['p0.test', 'p0.test', 'p0.test', 'p1.test']);
});

test('without retries the call moves to the next target at once', async () => {
  const at = await bench.open({ targets: 2 });
  at.transport.script(
    (request) => refuse(request, 500),
    (request) => whole(request),
  );
  expect(await statuses(at, 1)).toEqual([200]);
  expect(hosts(at)).toEqual(['p0.test', 'p1.test']);
});

describe('a first target that does not answer', () => {
  const LONG = { connectMs: 10_000, headersMs: 300_000, firstTokenMs: 300_000, silenceMs: 120_000, wholeMs: 1_800_000 };

  for (const stream of [false, true]) {
    test(`is abandoned after 30 s while another is free (stream: ${stream})`, async () => {
      const at = await bench.open({ targets: 2, settings: { limits: LONG } });
      const answering = at.serve(chatRequest(at.model, { stream }));
      const mute = await at.transport.next();
      at.transport.script((request) => {
        request.take();
        request.answer(stream ? streamAnswer(['Hello']) : wholeAnswer('Hello'));
      });
      at.transport.pass(29_000);
      expect(mute.isStopped).toBe(false);
      at.transport.pass(31_000);
      expect((await answering).status).toBe(200);
      expect(mute.isStopped).toBe(true);
      expect(hosts(at)).toEqual(['p0.test', 'p1.test']);
    });
  }

  test('comments do not count as a first token', async () => {
    const at = await bench.open({ targets: 2, settings: { limits: LONG } });
    const answering = at.serve(chatRequest(at.model, { stream: true }));
    const mute = await at.transport.next();
    at.transport.script((request) => {
      request.take();
      request.answer(streamAnswer(['Hello']));
    });
    mute.beginStream();
    mute.push(': working\n\n');
    at.transport.pass(31_000);
    expect((await answering).status).toBe(200);
    expect(hosts(at)).toEqual(['p0.test', 'p1.test']);
  });

  test('has the long limits if it is the only one', async () => {
    const at = await bench.open({ settings: { limits: LONG } });
    const answering = at.serve(chatRequest(at.model));
    const slow = await at.transport.next();
    at.transport.pass(200_000);
    slow.answer(wholeAnswer('Hello'));
    expect((await answering).status).toBe(200);
  });
});

describe('conversations', () => {
  const body = (at: GatewayCase, turns: number) => ({
    model: at.model,
    messages: [
      { role: 'system', content: 'You are a pirate.' },
      ...Array.from({ length: turns }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `turn ${i}` })),
    ],
  });

  test.each([
    ['20 calls of one go to one of two equal targets', {}, 1],
    ['`affinity: off` spreads them', { affinity: 'off' }, 2],
  ] as const)('%s', async (_, more, used) => {
    const at = await openEqual(more);
    answerAll(at, 20, whole);
    let point = 0;
    at.deps.random = () => (point++ * 0.37) % 1;
    for (let turn = 0; turn < 20; turn++) await at.serve(body(at, 1 + 2 * turn));
    expect(new Set(hosts(at)).size).toBe(used);
  });

  test('one whose target fails moves to the other, and stays there', async () => {
    const at = await openEqual();
    answerAll(at, 1, whole);
    await at.serve(body(at, 1));
    const [first] = hosts(at);
    answerAll(at, 6, (request) => (request.host === first ? refuse(request, 500) : whole(request)));
    for (let turn = 1; turn < 5; turn++) expect((await at.serve(body(at, 1 + 2 * turn))).status).toBe(200);
    expect(
      hosts(at)
        .slice(1)
        .filter((host) => host === first),
    ).toHaveLength(1);
  });

  test('a header names the session', async () => {
    const at = await openEqual();
    answerAll(at, 12, whole);
    let point = 0;
    at.deps.random = () => (point++ * 0.37) % 1;
    for (let i = 0; i < 12; i++)
      await at.serve(chatRequest(at.model, { messages: [{ role: 'user', content: `${i}` }] }), {
        headers: { 'x-session-id': 'one' },
      });
    expect(new Set(hosts(at)).size).toBe(1);
  });
});

describe('places at a provider', () => {
  test('an account that floods it does not starve another', async () => {
    const at = await bench.open({ provider: { concurrency: 20, queueMs: 5000 } });
    const other = await at.another();
    const flood: Promise<Answer>[] = [];
    for (let i = 0; i < 60; i++) flood.push(at.serve(chatRequest(at.model)));
    const inside = await Promise.all(Array.from({ length: 20 }, () => at.transport.next()));
    expect(at.transport.sent).toHaveLength(20);
    const calm = Array.from({ length: 20 }, () => at.serve(chatRequest(at.model), { key: other }));
    const queued = () => at.deps.catalog.routing.targetState(at.deps.catalog.find(at.model)!.targets[0]!).queued;
    await until(() => queued() === 60);
    answerAll(at, 60, whole);
    for (const request of inside) request.answer(wholeAnswer('Hello'));
    const all = await Promise.all([...calm, ...flood]);
    expect(all.map(({ status }) => status)).toEqual(Array(80).fill(200));
    // As soon as places are free the calm account has its share of them.
    const accounts = at.calls.map(({ account }) => account);
    const calmAccount = accounts.find((account) => account !== at.caller.account)!;
    expect(accounts.slice(20, 50).filter((account) => account === calmAccount).length).toBeGreaterThanOrEqual(10);
  });

  test('a call that gets no place in time gets an error', async () => {
    const at = await bench.open({ provider: { concurrency: 1, queueMs: 20 } });
    const first = at.serve(chatRequest(at.model));
    const inside = await at.transport.next();
    const second = await at.serve(chatRequest(at.model));
    expect([second.status, second.headers['retry-after']]).toEqual([503, '1']);
    inside.answer(wholeAnswer('Hello'));
    expect((await first).status).toBe(200);
  });

  test('a call waits for the place of a good credential, not for one that was refused', async () => {
    const at = await bench.open({ credentials: 2, provider: { concurrency: 1, queueMs: 5000 } });
    answerAll(at, 3, (request) => (keyOf(request)?.endsWith('1') ? refuse(request, 401) : whole(request)));
    expect(await statuses(at, 2)).toEqual([200, 200]);
    const sent = at.transport.sent.length;
    const first = at.serve(chatRequest(at.model));
    const inside = await at.transport.next();
    const second = at.serve(chatRequest(at.model));
    const queued = () => at.deps.catalog.routing.targetState(at.deps.catalog.find(at.model)!.targets[0]!).queued;
    await until(() => queued() === 1 || at.transport.sent.length > sent + 1);
    expect(at.transport.sent.length).toBe(sent + 1);
    answerAll(at, 1, whole);
    inside.answer(wholeAnswer('Hello'));
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
  });

  test('a call whose credential is refused waits for the place of the other', async () => {
    const at = await bench.open({ credentials: 2, provider: { concurrency: 1, queueMs: 5000 } });
    const first = at.serve(chatRequest(at.model));
    const inside = await at.transport.next();
    at.transport.script((request) => refuse(request, 401));
    const second = at.serve(chatRequest(at.model));
    let isOver = false;
    void second.then(() => {
      isOver = true;
    });
    const queued = () => at.deps.catalog.routing.targetState(at.deps.catalog.find(at.model)!.targets[0]!).queued;
    await until(() => queued() === 1 || isOver);
    answerAll(at, 1, whole);
    inside.answer(wholeAnswer('Hello'));
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
  });

  test('another target is used before a call waits', async () => {
    const at = await bench.open({ targets: 2, provider: { concurrency: 1 } });
    const first = at.serve(chatRequest(at.model));
    const inside = await at.transport.next();
    at.transport.script(whole);
    expect((await at.serve(chatRequest(at.model))).status).toBe(200);
    expect(hosts(at)).toEqual(['p0.test', 'p1.test']);
    inside.answer(wholeAnswer('Hello'));
    await first;
  });

  test('a client that disconnects while it waits takes no place', async () => {
    const at = await bench.open({ provider: { concurrency: 1 } });
    const first = at.serve(chatRequest(at.model));
    const inside = await at.transport.next();
    const waiting = at.serve(chatRequest(at.model));
    await until(() => at.deps.catalog.routing.targetState(at.deps.catalog.find(at.model)!.targets[0]!).queued === 1);
    at.client.leave();
    await waiting;
    inside.answer(wholeAnswer('Hello'));
    await first;
    expect(at.transport.sent).toHaveLength(1);
    expect(await at.held()).toBe(0n);
  });
});

async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 10_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error('It did not come.');
    await Bun.sleep(2);
  }
}
