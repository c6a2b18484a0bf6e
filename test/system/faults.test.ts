/** Every kind of upstream failure during a call: the right error, the right charge, no open hold. */
import { describe, expect, test } from 'bun:test';
import {
  assertBroken,
  assertPartial,
  assertPublic,
  LIMIT_SETTINGS,
  LIMITS,
  streamed,
  TEXTS,
  whole,
} from '../e2e/calls.ts';
import { chatRequest, errorAnswer, streamAnswer, USED, wholeAnswer } from '../helpers/chat-answers.ts';
import { readUntil } from '../helpers/read-until.ts';
import { costOf, nanoCost, type StageSetup } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import type { Answer } from '../upstream/answer.ts';
import { refusingUrl } from '../upstream/scripted-upstream.ts';

const scene = useScene({ environment: LIMIT_SETTINGS });

describe('before the first byte: an HTTP error, nothing charged', () => {
  const cases: { name: string; answer?: Answer; setup?: () => Promise<StageSetup>; status: number; code: string }[] = [
    { name: 'refused', setup: async () => ({ baseUrls: [await refusingUrl()] }), status: 502, code: 'upstream_failed' },
    {
      name: 'reset before the headers',
      answer: wholeAnswer('x', { fault: { before: 'headers', does: 'reset' } }),
      status: 502,
      code: 'upstream_failed',
    },
    {
      name: 'closed before the headers',
      answer: wholeAnswer('x', { fault: { before: 'headers', does: 'cut' } }),
      status: 502,
      code: 'upstream_failed',
    },
    {
      name: 'slow headers',
      answer: wholeAnswer('x', { fault: { before: 'headers', does: 'silence' } }),
      status: 504,
      code: 'upstream_timeout',
    },
    {
      name: 'silent after the headers',
      answer: wholeAnswer('x', { fault: { before: 0, does: 'silence' } }),
      status: 504,
      code: 'upstream_timeout',
    },
    {
      name: '500 with HTML',
      answer: {
        status: 500,
        text: '<html><body>Oops 127.0.0.1</body></html>',
        headers: { 'content-type': 'text/html' },
      },
      status: 502,
      code: 'upstream_failed',
    },
    {
      name: '401 for our own credential',
      answer: errorAnswer(401, 'Incorrect API key sk-upstream-secret'),
      status: 502,
      code: 'upstream_failed',
    },
    {
      name: '403 for our own credential',
      answer: errorAnswer(403, 'Your org org-123 is banned'),
      status: 502,
      code: 'upstream_failed',
    },
    {
      name: '402 for our own quota',
      answer: errorAnswer(402, 'Top up your account'),
      status: 502,
      code: 'upstream_failed',
    },
    {
      name: 'a redirect',
      answer: { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
      status: 502,
      code: 'upstream_failed',
    },
    {
      name: 'an empty body',
      answer: { status: 200, headers: { 'content-type': 'application/json' } },
      status: 502,
      code: 'upstream_failed',
    },
    {
      name: 'garbage instead of a body',
      answer: { text: '<<<garbage>>>', headers: { 'content-type': 'application/json' } },
      status: 502,
      code: 'upstream_failed',
    },
  ];
  for (const { name, answer, setup, status, code } of cases) {
    for (const stream of [false, true]) {
      test(`${name}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const stage = await scene.stage(await setup?.());
        if (answer) stage.script(answer);
        const seen = stream ? await streamed(stage) : await whole(stage);
        const text = 'text' in seen ? seen.text : JSON.stringify(seen.body);
        expect(seen.status).toBe(status);
        expect(JSON.parse(text).error.code).toBe(code);
        assertPublic(text);
        const call = await stage.settledCall();
        expect(call).toMatchObject({ status, cost: '0', attempts: 1, errorCode: code });
      });
    }
  }

  test('the provider refuses the request itself: its status and message are passed on', async () => {
    const stage = await scene.stage();
    for (const status of [400, 404, 413, 422]) stage.script(errorAnswer(status, `No, ${status}.`));
    for (const status of [400, 404, 413, 422]) {
      const seen = await whole(stage);
      expect(seen.status).toBe(status);
      expect(seen.body.error).toMatchObject({
        message: `No, ${status}.`,
        code: 'provider_code',
        type: 'provider_type',
      });
    }
    for (const call of await stage.settled()) expect(call).toMatchObject({ cost: '0', outcome: 'refused' });
  });

  for (const [form, value] of [
    ['seconds', () => '60'],
    ['date', () => new Date(Date.now() + 60_000).toUTCString()],
  ] as const) {
    test(`429 with retry-after as ${form} is passed on, and the target cools down`, async () => {
      const stage = await scene.stage();
      stage.script(errorAnswer(429, 'Slow down', { headers: { 'retry-after': value() } }));
      for (let n = 0; n < 2; n++) {
        const seen = await whole(stage);
        expect(seen.status).toBe(429);
        expect(seen.body.error?.code).toBe('rate_limited');
        expect(Number(seen.headers.get('retry-after'))).toBeWithin(30, 62);
      }
      expect(stage.journal()).toHaveLength(1);
      for (const call of await stage.settled()) expect(call.cost).toBe('0');
    });
  }
});

describe('during a stream: an error event, no terminator, the delivered output charged', () => {
  const cases: { name: string; answer: Answer; code: string; texts: number }[] = [
    { name: 'cut between events', answer: { fault: { before: 3, does: 'cut' } }, code: 'upstream_failed', texts: 2 },
    {
      name: 'reset between events',
      answer: { fault: { before: 3, does: 'reset' } },
      code: 'upstream_failed',
      texts: 2,
    },
    {
      name: 'cut in mid-event',
      answer: { fault: { before: 3, inside: 'event', does: 'cut' } },
      code: 'upstream_failed',
      texts: 2,
    },
    {
      name: 'cut in mid-character',
      answer: { fault: { before: 3, inside: 'character', does: 'cut' } },
      code: 'upstream_failed',
      texts: 2,
    },
    {
      name: 'ended without finish',
      answer: { fault: { before: 3, does: 'cut' }, ending: 'close' },
      code: 'upstream_failed',
      texts: 2,
    },
    { name: 'silent', answer: { fault: { before: 3, does: 'silence' } }, code: 'upstream_timeout', texts: 2 },
  ];
  for (const { name, answer, code, texts } of cases) {
    test(name, async () => {
      const stage = await scene.stage();
      stage.script(streamAnswer(TEXTS, { paceMs: 20, ...answer }));
      const seen = await streamed(stage);
      expect(seen.status).toBe(200);
      for (const text of TEXTS.slice(0, texts)) expect(seen.text).toContain(text);
      assertBroken(seen.text, code);
      await assertPartial(stage, code);
    });
  }

  for (const [type, message, expected] of [
    ['invalid_request_error', 'The context is too long.', 'The context is too long.'],
    ['server_error', 'Host db-7 at 127.0.0.1 is down.', 'provider failed'],
  ] as const) {
    test(`an error event after 200, of type ${type}`, async () => {
      const stage = await scene.stage();
      const { events = [] } = streamAnswer(TEXTS);
      stage.script({ events: [...events.slice(0, 3), { error: { message, type, param: null, code: null } }] });
      const seen = await streamed(stage);
      expect(seen.status).toBe(200);
      expect(seen.text).toContain(expected);
      expect(seen.text).not.toContain('[DONE]');
      assertPublic(seen.text);
      const call = await stage.settledCall();
      expect(call.outcome).toBe('broken');
      expect(nanoCost(call)).toBeGreaterThan(0n);
    });
  }

  test('an invalid last event without a blank line after it', async () => {
    const setup = { kind: 'image', type: 'openai', upstreamModel: 'gpt-image-1.5', price: { perImage: 0.002 } };
    const stage = await scene.stage(setup);
    const sketch = { type: 'image_generation.partial_image', partial_image_index: 0, b64_json: 'AAAA' };
    const events = [sketch, 'data: {"type":"image_generation.completed"}\n'];
    stage.script({ events, withoutTerminator: true, paceMs: 50 });
    const request = { model: stage.model, prompt: 'A cat', stream: true, partial_images: 1 };
    const response = await stage.post('/v1/images/generations', request, AbortSignal.timeout(30_000));
    const text = await response.text();
    expect(text).toContain('event: error');
    assertPublic(text);
    expect(await stage.settledCall()).toMatchObject({ outcome: 'broken', errorCode: 'upstream_failed', cost: '0' });
  });

  test('a call above the maximum time, although it is never silent', async () => {
    const stage = await scene.stage();
    stage.script(
      streamAnswer(
        Array.from({ length: 100 }, (_, n) => `word${n} `),
        { paceMs: 200 },
      ),
    );
    const seen = await streamed(stage);
    assertBroken(seen.text, 'upstream_timeout');
    expect(seen.ms).toBeWithin(LIMITS.wholeMs - 100, LIMITS.wholeMs + 10_000);
    await assertPartial(stage, 'upstream_timeout');
    expect(stage.journal()[0]?.aborted).toBe(true);
  });

  test('a non-streaming response cut in the middle is an HTTP error and costs nothing', async () => {
    const stage = await scene.stage();
    stage.script(wholeAnswer('Hello', { fault: { before: 0, inside: 'event', does: 'cut' } }));
    const seen = await whole(stage);
    expect(seen.status).toBe(502);
    expect(await stage.settledCall()).toMatchObject({ cost: '0', errorCode: 'upstream_failed' });
  });
});

describe('unusual but complete replies are relayed and charged as reported', () => {
  const cases: { name: string; answer: Answer }[] = [
    { name: 'gzip', answer: { gzip: true, chunking: { seed: 3 } } },
    { name: 'one byte at a time', answer: { chunking: 'byte' } },
    { name: 'all at once', answer: { chunking: 'whole' } },
    { name: 'an end by closing', answer: { ending: 'close' } },
    { name: 'a stall in the middle', answer: { fault: { before: 2, does: LIMITS.silenceMs / 4 } } },
    { name: 'slow headers within the limit', answer: { fault: { before: 'headers', does: LIMITS.headersMs / 4 } } },
    { name: 'no terminator', answer: { withoutTerminator: true } },
    { name: 'garbage after the terminator', answer: { garbage: 'data: {oops\n\n' } },
  ];
  for (const { name, answer } of cases) {
    test(name, async () => {
      const stage = await scene.stage();
      stage.script(streamAnswer(TEXTS, answer));
      const seen = await streamed(stage);
      expect(seen.status).toBe(200);
      expect(deltasOf(seen.text)).toBe(TEXTS.join(''));
      expect(seen.text).toEndWith('data: [DONE]\n\n');
      const call = await stage.settledCall();
      expect(call).toMatchObject({ outcome: 'ok', usage: { source: 'reported' } });
      expect(nanoCost(call)).toBe(costOf(USED));
    });
  }

  test('an event is sent on as soon as it arrives', async () => {
    const stage = await scene.stage();
    stage.script(streamAnswer(TEXTS, { fault: { before: 2, does: LIMITS.silenceMs / 2 } }));
    const response = await stage.post('/v1/chat/completions', chatRequest(stage.model, { stream: true }));
    const { reader } = await readUntil(response, (seen) => seen.includes(TEXTS[0] ?? ''));
    expect(stage.journal()[0]?.endedMs).toBeUndefined();
    while (!(await reader.read()).done);
    expect((await stage.settledCall()).outcome).toBe('ok');
  });

  test('gzip, non-streaming', async () => {
    const stage = await scene.stage();
    stage.script(wholeAnswer('Hello', { gzip: true }));
    expect(JSON.stringify((await whole(stage)).body)).toContain('Hello');
    expect(nanoCost(await stage.settledCall())).toBe(costOf(USED));
  });
});

function deltasOf(text: string): string {
  let sum = '';
  for (const event of text.split('\n\n')) {
    if (!event.startsWith('data: {')) continue;
    const { choices } = JSON.parse(event.slice(6)) as { choices: { delta: { content?: string } }[] };
    sum += choices[0]?.delta.content ?? '';
  }
  return sum;
}

test('the log has every call, and no prompts, replies or secrets', () => {
  const log = scene.gateway.log();
  expect(log.match(/"msg":"call"/g)?.length ?? 0).toBeGreaterThan(40);
  const telling = log.split('\n').filter((line) => /Say hello|Grüße|sk-upstream-secret/.test(line));
  expect(telling).toEqual([]);
});

describe('with the usual time limits, which so many bytes on a busy machine keep', () => {
  const usual = useScene();

  test('a line of 64 MiB ends the call within limits, and the gateway continues', async () => {
    const stage = await usual.stage();
    const line = Buffer.alloc(64 * 1024 * 1024, 'a');
    const bytes = Buffer.concat([Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"'), line]);
    stage.script({ bytes, headers: { 'content-type': 'text/event-stream' }, chunking: 'whole', ending: 'chunked' });
    const seen = await streamed(stage);
    expect(seen.status).toBe(502);
    expect(await stage.settledCall()).toMatchObject({ cost: '0', errorCode: 'upstream_failed' });
    const after = await usual.stage();
    after.script(wholeAnswer('Hello'));
    expect((await whole(after)).status).toBe(200);
  }, 60_000);
});
