import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../test/helpers/chat-call.ts';
import { createFakeTransport, type FakeTransport, type SentRequest } from '../../../test/helpers/fake-transport.ts';
import type { GatewayError } from '../../canonical/errors.ts';
import type { Reader } from '../../dialects/dialect.ts';
import { dialectNamed } from '../../dialects/index.ts';
import { Cancellation } from '../../transport/cancellation.ts';
import type { Exchange } from '../../transport/exchange.ts';
import type { TimeLimits } from '../../transport/time-limits.ts';
import type { TargetCall } from '../prepare/steps.ts';
import { passesBytes, readStart, readStream, readWhole, refusalOf } from './read-reply.ts';
import { allFrames } from './upstream.ts';

const LIMITS = { connectMs: 1e9, headersMs: 1e9, firstTokenMs: 1e9, silenceMs: 1e9, wholeMs: 1e9 };
const CALL = chatCall({});

/** An exchange with a fake upstream, and its other end. */
async function exchanged(
  status = 200,
  limits: TimeLimits = LIMITS,
): Promise<{ exchange: Exchange; request: SentRequest; transport: FakeTransport }> {
  const transport = createFakeTransport();
  const sending = { method: 'POST', url: 'http://p.test/', headers: {}, body: new Uint8Array() };
  const begun = transport.send(sending, limits, Number.POSITIVE_INFINITY, new Cancellation());
  const request = await transport.next();
  request.begin(status, { 'content-type': 'text/event-stream' });
  return { exchange: await begun, request, transport };
}

function chatReader(): Reader {
  const dialect = dialectNamed('openai-chat');
  if (!dialect) throw new Error('There is no such format.');
  return dialect.reader(CALL, 'text/event-stream', {});
}

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const codeOf = (trying: Promise<unknown>) =>
  trying.then(
    () => 'none',
    ({ code }: GatewayError) => code,
  );

describe('a stream that is read to its end', () => {
  const load = { take() {}, count() {}, give() {}, end() {} };

  test('has its limit to the first token until its first content, not until its end', async () => {
    const { exchange, request, transport } = await exchanged(200, { ...LIMITS, answerMs: 1000 });
    const reading = readStream(exchange, chatReader(), true, 1e6, { load, began() {} });
    request.pushEvents(chunk({ role: 'assistant', content: 'Hel' }));
    // What has been pushed is read before this timer.
    await Bun.sleep(0);
    transport.pass(5000);
    request.pushEvents(chunk({ content: 'lo' }), chunk({}, 'stop'));
    request.pushDone();
    expect((await allFrames(await reading)).length).toBeGreaterThan(3);
  });

  test('without content ends at that limit', async () => {
    const { exchange, request, transport } = await exchanged(200, { ...LIMITS, answerMs: 1000 });
    const reading = codeOf(readStream(exchange, chatReader(), true, 1e6, { load, began() {} }));
    request.push(': comment\n\n');
    await Bun.sleep(0);
    transport.pass(5000);
    expect(await reading).toBe('upstream_timeout');
  });
});

describe('a stream', () => {
  test('has begun with its first frame with content; comments before it are kept', async () => {
    const { exchange, request } = await exchanged();
    const starting = readStart(exchange, chatReader(), true, 'text/event-stream', 1e6);
    request.push(': comment\n\n');
    request.pushEvents(chunk({ role: 'assistant', content: 'Hel' }));
    const upstream = await starting;
    request.pushEvents(chunk({ content: 'lo' }), chunk({}, 'stop'));
    request.pushDone();
    const frames = await allFrames(upstream);
    expect(frames.map(({ bytes }) => Buffer.from(bytes).toString()).join('')).toContain(': comment');
    const texts = frames.flatMap(({ events }) =>
      events.map((event) => (event.type === 'part-delta' ? event.delta : '')),
    );
    expect(texts.join('')).toBe('Hello');
  });

  test('that reports an error before any output is a failed attempt, and its exchange is ended', async () => {
    const { exchange, request } = await exchanged();
    const starting = readStart(exchange, chatReader(), true, 'text/event-stream', 1e6);
    request.pushEvents({ error: { message: 'overloaded', type: 'server_error' } });
    expect(await codeOf(starting)).not.toBe('none');
    expect(request.isStopped).toBe(true);
  });

  test('with endless comments ends with an error', async () => {
    const { exchange, request } = await exchanged();
    const starting = readStart(exchange, chatReader(), true, 'text/event-stream', 1e9);
    for (let sent = 0; sent <= 1024 * 1024; sent += 64 * 1024) request.push(`: ${'x'.repeat(64 * 1024)}\n\n`);
    expect(await codeOf(starting)).toBe('upstream_failed');
    expect(request.isStopped).toBe(true);
  });
});

describe('a non-streaming reply', () => {
  const reader = (type: 'error' | 'reply-end'): Reader => ({
    read: () => [],
    end: () => [
      {
        bytes: new Uint8Array(),
        events: [type === 'error' ? { type, error: new Error('late') as GatewayError } : { type }],
      },
    ],
  });

  test('is refused for an error anywhere in it', () => {
    expect(() => readWhole(reader('error'), new Uint8Array(), true)).toThrow('late');
  });

  test('has all its frames', async () => {
    const upstream = readWhole(reader('reply-end'), new Uint8Array(), true);
    expect(await allFrames(upstream)).toHaveLength(1);
  });
});

const preparedFor = (isSame: boolean, supportsFreeTextTools = true) =>
  ({
    isSame,
    route: { dialect: dialectNamed('openai-chat'), quirks: { supportsFreeTextTools } },
    context: { dialect: dialectNamed('anthropic-messages') },
  }) as unknown as TargetCall;

test('a refusal whose body breaks off is still one of its status', async () => {
  const { exchange, request } = await exchanged(400);
  request.push('{"error":{"message":"too ');
  request.exchange.broke(new Error('cut'));
  expect(await refusalOf(preparedFor(true), exchange)).toMatchObject({ code: 'upstream_refused', status: 400 });
});

test('bytes pass between equal formats, except for free-text tools that were sent as functions', () => {
  const custom = chatCall({ tools: [{ type: 'custom', name: 'sql' }] });
  expect(passesBytes(preparedFor(true), CALL)).toBe(true);
  expect(passesBytes(preparedFor(false), CALL)).toBe(false);
  expect(passesBytes(preparedFor(true, false), CALL)).toBe(true);
  expect(passesBytes(preparedFor(true), custom)).toBe(true);
  expect(passesBytes(preparedFor(true, false), custom)).toBe(false);
});
