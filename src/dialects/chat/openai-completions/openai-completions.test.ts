import { describe, expect, test } from 'bun:test';
import { bytesOf, CALL, callOf, streamCall, text } from '../../../../test/helpers/completion-calls.ts';
import {
  cutBytes,
  hasFixtures,
  recordedCase,
  recordedCases,
  replyBytes,
  replyContentType,
  requestBytes,
} from '../../../../test/helpers/fixtures.ts';
import { ERRORS, type ErrorCode, GatewayError } from '../../../canonical/errors.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { addEvent, emptyReply, type Reply, type ReplyEvent } from '../../../canonical/reply.ts';
import type { Frame } from '../../dialect.ts';
import { openaiCompletions } from './openai-completions.ts';

function readAll(chunks: Uint8Array[], contentType = 'text/event-stream'): Frame[] {
  const reader = openaiCompletions.reader(streamCall(), contentType, {});
  return [...chunks.flatMap((chunk) => reader.read(chunk)), ...reader.end()];
}

const eventsOf = (frames: readonly Frame[]) => frames.flatMap((frame) => frame.events);

function replyOf(events: readonly ReplyEvent[]): Reply {
  const reply = emptyReply();
  for (const event of events) addEvent(reply, event);
  return reply;
}

const join = (pieces: readonly Uint8Array[]) => Buffer.concat(pieces).toString();
const withoutModel = (body: string) => body.replaceAll(/"model": ?"[^"]*"/g, '"model":"public-name"');

const recorded = recordedCases('openai-completions');
const replies = recorded.filter((one) => one.status === 200);

describe('recorded replies', () => {
  test.each(replies)('$file: chunk boundaries do not change the frames, and their bytes are the recording', (one) => {
    const bytes = replyBytes(one);
    const whole = readAll([bytes], replyContentType(one));
    expect(join(whole.map((frame) => frame.bytes))).toBe(text(bytes));
    for (const seed of [1, 2, 3, 4, 5]) {
      const cut = readAll(cutBytes(bytes, seed), replyContentType(one));
      expect(cut.map((frame) => text(frame.bytes))).toEqual(whole.map((frame) => text(frame.bytes)));
      expect(eventsOf(cut)).toEqual(eventsOf(whole));
    }
  });

  test.each(replies)('$file: its events begin and end correctly', (one) => {
    const events = eventsOf(readAll([replyBytes(one)], replyContentType(one)));
    expect(events[0]?.type).toBe('reply-start');
    expect(events.at(-1)?.type).toBe('reply-end');
    expect(events.some((event) => event.type === 'error')).toBe(false);
    const reply = replyOf(events);
    expect(reply.choices.length).toBeGreaterThan(0);
    for (const choice of reply.choices) {
      expect(choice.finish?.reason).toBeOneOf(['stop', 'length']);
      expect(choice.parts).toHaveLength(1);
      expect(choice.parts[0]?.content).not.toBe('');
    }
  });

  test.each(replies)("$file: is passed on byte for byte with the caller's model name", (one) => {
    const writer = openaiCompletions.writer(
      callOf({ ...CALL, stream: one.stream, stream_options: { include_usage: true } }),
    );
    const passed = readAll(cutBytes(replyBytes(one), 7), replyContentType(one)).map((frame) => writer.pass(frame));
    expect(withoutModel(join([...passed, writer.end()]))).toBe(withoutModel(text(replyBytes(one))));
    expect(join([...passed, writer.end()])).not.toContain('2023');
  });

  test.each(replies)('$file: means the same after it is written and read again', (one) => {
    const frames = readAll([replyBytes(one)], replyContentType(one));
    const meant = replyOf(eventsOf(frames));
    for (const stream of [true, false]) {
      const writer = openaiCompletions.writer(callOf({ ...CALL, stream, stream_options: { include_usage: true } }));
      const written = Buffer.concat([...frames.map((frame) => writer.write(frame)), writer.end()]);
      const again = eventsOf(readAll([written], writer.contentType));
      expect(again.at(-1)?.type).toBe('reply-end');
      expect(replyOf(again)).toEqual({ ...meant, model: 'public-name' });
    }
  });

  test.each(recorded.filter((one) => one.request_file))('$file: its request is written as it was read', (one) => {
    const request = JSON.parse(text(requestBytes(one)!));
    const written = openaiCompletions.writeCall(callOf(request), request.model, {});
    expect(written.warnings).toEqual([]);
    expect(JSON.parse(text(written.body))).toEqual(request);
    const call = callOf(request);
    expect(openaiCompletions.passCall(call, request.model, {})).toEqual({ body: call.origin.body, warnings: [] });
  });

  test.skipIf(!hasFixtures)('usage of a stream is hidden from a client that did not request it', () => {
    const one = recordedCase('envoy-completion-streaming-usage.sse.txt');
    const writer = openaiCompletions.writer(streamCall());
    const passed = readAll([replyBytes(one)]).map((frame) => writer.pass(frame));
    expect(join(passed)).not.toContain('prompt_tokens');
    expect(text(writer.end())).toBe('data: [DONE]\n\n');
  });

  test.skipIf(!hasFixtures)('log probabilities are written in the columns they came in', () => {
    const bytes = replyBytes(recordedCase('envoy-completion-suffix.json'));
    const writer = openaiCompletions.writer(callOf(CALL));
    for (const frame of readAll([bytes], 'application/json')) writer.write(frame);
    const columns = (body: Uint8Array) => JSON.parse(text(body)).choices.map((choice: JsonObject) => choice.logprobs);
    expect(columns(writer.end())).toEqual(columns(bytes));
  });

  test.skipIf(!hasFixtures)('several prompts keep their flat order', () => {
    const reply = replyOf(
      eventsOf(readAll([replyBytes(recordedCase('envoy-completion-token-batch.json'))], 'application/json')),
    );
    expect(reply.choices).toHaveLength(4);
    expect(reply.usage).toMatchObject({ input: 49, output: 57 });
  });

  test.skipIf(!hasFixtures)("an unknown model is the provider's error", () => {
    const one = recordedCase('envoy-completion-unknown-model.json');
    const error = openaiCompletions.readError(one.status, new Headers(), replyBytes(one));
    expect(error).toMatchObject({
      code: 'upstream_refused',
      status: 404,
      providerCode: 'model_not_found',
      retryable: false,
    });
  });
});

describe('reading a reply', () => {
  const event = (body: unknown) => bytesOf(`data: ${typeof body === 'string' ? body : JSON.stringify(body)}\n\n`);
  const chunk = (words: string, finish: string | null = null) => ({
    id: 'cmpl-1',
    model: 'm',
    created: 1,
    choices: [{ index: 0, text: words, finish_reason: finish }],
  });

  test.each([
    ['cut in the middle of an event', [event(chunk('a')), bytesOf('data: {"choi')]],
    ['over before a choice has ended', [event(chunk('a'))]],
    ['empty', []],
    ['not JSON', [event('oops')]],
    ['an error object', [event(chunk('a')), event({ error: { message: 'x', type: 'server_error' } })]],
    ['an error string', [event({ error: 'x', code: 'y' })]],
  ])('a stream that is %s ends in an error and is never complete', (_what, chunks) => {
    const events = eventsOf(readAll(chunks));
    expect(events.filter((one) => one.type === 'error' && !one.isLocal)).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'error' });
    expect(events.some((one) => one.type === 'reply-end')).toBe(false);
  });

  test('a stream without a terminator whose choices have ended is complete, and gets one', () => {
    const frames = readAll([event(chunk('a')), event(chunk('', 'stop'))]);
    expect(eventsOf(frames).at(-1)).toEqual({ type: 'reply-end' });
    const writer = openaiCompletions.writer(streamCall());
    expect(join([...frames.map((frame) => writer.pass(frame)), writer.end()])).toEndWith('data: [DONE]\n\n');
  });

  test('a choice ends once, whatever follows', () => {
    const frames = readAll([event(chunk('a', 'stop')), event(chunk('b', 'stop')), event('[DONE]')]);
    expect(eventsOf(frames).filter((one) => one.type === 'choice-end')).toHaveLength(1);
    expect(replyOf(eventsOf(frames)).choices[0]?.parts[0]?.content).toBe('a');
  });

  test("usage in the last choice's event is read, and the event stays", () => {
    const last = { ...chunk('b', 'length'), usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } };
    const frames = readAll([event(chunk('a')), event(last), event('[DONE]')]);
    expect(replyOf(eventsOf(frames)).usage).toMatchObject({ input: 3, output: 2, source: 'reported' });
    const writer = openaiCompletions.writer(streamCall());
    expect(join(frames.map((frame) => writer.pass(frame)))).toContain('"finish_reason":"length"');
  });

  test('a body that is not JSON is an error', () => {
    expect(eventsOf(readAll([bytesOf('<html>')], 'application/json'))).toEqual([
      { type: 'error', error: expect.any(GatewayError) },
    ]);
  });
});

describe('errors', () => {
  test.each(Object.keys(ERRORS) as ErrorCode[])("%s has a body in OpenAI's shape", (code) => {
    const reply = openaiCompletions.writeError(new GatewayError(code, 'A sentence.'), 'req_1');
    expect(reply.status).toBe(ERRORS[code].status);
    expect(JSON.parse(String(reply.body)).error).toMatchObject({
      message: 'A sentence.',
      code,
      type: ERRORS[code].openai,
    });
  });
});
