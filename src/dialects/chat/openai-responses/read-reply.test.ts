/** Streams add up to their final object; wrong events are normalized; failures are failures. */
import { describe, expect, test } from 'bun:test';
import { replyOf, view } from '../../../../test/conformance/dialect-laws.ts';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { recordedCases, replyBytes, replyContentType } from '../../../../test/helpers/fixtures.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { isObject } from '../../../canonical/json.ts';
import type { Frame } from '../../dialect.ts';
import { openaiResponses } from './openai-responses.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const call = chatCall({ origin: { dialect: openaiResponses.name, body: new Uint8Array() } });

function framesOf(bytes: Uint8Array, contentType = 'text/event-stream'): Frame[] {
  const reader = openaiResponses.reader(call, contentType, {});
  return [...reader.read(bytes), ...reader.end()];
}

function eventsOf(payloads: readonly JsonObject[]) {
  return framesOf(streamOf(payloads)).flatMap((frame) => frame.events);
}

function streamOf(payloads: readonly JsonObject[]): Uint8Array {
  return encoder.encode(payloads.map((payload) => `data: ${JSON.stringify(payload)}\n\n`).join(''));
}

function payloadsIn(text: string): JsonObject[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const data = line.startsWith('data:') ? line.slice(5).trim() : '';
    return data.startsWith('{') ? [JSON.parse(data) as JsonObject] : [];
  });
}

/** The provider encrypts its reasoning again for the final object, and omits some log probabilities. */
function summed(frames: readonly Frame[]) {
  const { choices, usage } = view(replyOf(frames.flatMap((frame) => frame.events)));
  return {
    usage,
    choices: choices.map(({ logprobs: _, signatures, ...choice }) => ({ ...choice, signatures: signatures.length })),
  };
}

const streams = recordedCases(openaiResponses.name).filter(({ stream, status }) => stream && status === 200);

describe.skipIf(streams.length === 0)(`${streams.length} recorded streams`, () => {
  test.each(streams.map((recorded) => [recorded.file, recorded] as const))(
    'adds up to its final object: %s',
    (_, recorded) => {
      const bytes = replyBytes(recorded);
      const last = payloadsIn(decoder.decode(bytes)).findLast(({ type }) => type === 'response.completed');
      if (!isObject(last?.response) || !Array.isArray(last.response.output) || last.response.output.length === 0)
        return;
      const whole = framesOf(encoder.encode(JSON.stringify(last.response)), 'application/json');
      expect(summed(framesOf(bytes, replyContentType(recorded)))).toEqual(summed(whole));
    },
  );

  test('changing item ids are replaced by the first', () => {
    const recorded = streams.find(({ provider }) => provider === 'github-copilot');
    if (!recorded) return;
    const writer = openaiResponses.writer(call);
    const passed = framesOf(replyBytes(recorded)).map((frame) => decoder.decode(writer.pass(frame)));
    const ids = new Map<unknown, Set<unknown>>();
    for (const payload of payloadsIn(passed.join(''))) {
      const { item, response, output_index: index, item_id: id } = payload;
      const place = isObject(response) ? 'response' : index;
      const named = isObject(response) ? response.id : isObject(item) ? item.id : id;
      ids.set(place, (ids.get(place) ?? new Set()).add(named));
    }
    for (const names of ids.values()) expect(names.size).toBe(1);
  });
});

test('a final object without output is completed from the stream', () => {
  const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] };
  const stream = streamOf([
    { type: 'response.created', response: { id: 'resp_1', model: 'm', output: [] } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'resp_1', model: 'm', status: 'completed', output: [] } },
  ]);
  const writer = openaiResponses.writer(call);
  const passed = payloadsIn(
    framesOf(stream)
      .map((frame) => decoder.decode(writer.pass(frame)))
      .join(''),
  );
  expect(passed.at(-1)?.response).toMatchObject({ model: 'public-model', output: [item] });
});

test('what the deltas omitted is added at the end of the item', () => {
  const events = eventsOf([
    { type: 'response.created', response: { id: 'resp_1', model: 'm' } },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hel' },
    {
      type: 'response.completed',
      response: {
        status: 'completed',
        output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello' }] }],
      },
    },
  ]);
  expect(view(replyOf(events)).choices[0]?.text).toBe('Hello');
});

test('unknown events mean nothing and are passed on', () => {
  const stream = encoder.encode('event: response.new_thing\ndata: {"type":"response.new_thing","output_index":3}\n\n');
  const reader = openaiResponses.reader(call, 'text/event-stream', {});
  const [frame] = reader.read(stream);
  expect(frame?.events).toEqual([]);
  expect(frame && decoder.decode(openaiResponses.writer(call).pass(frame))).toBe(decoder.decode(stream));
});

test('failures are classified by their codes', () => {
  const failure = (code: string) =>
    eventsOf([{ type: 'response.failed', response: { status: 'failed', error: { code, message: 'No.' } } }]).at(-1);
  expect(failure('rate_limit_exceeded')).toMatchObject({ type: 'error', error: { code: 'rate_limited' } });
  expect(failure('invalid_prompt')).toMatchObject({ type: 'error', error: { code: 'upstream_refused' } });
  expect(failure('server_error')).toMatchObject({ type: 'error', error: { code: 'upstream_failed' } });
  expect(eventsOf([{ type: 'error', code: 'server_error', message: 'No.' }])).toMatchObject([{ type: 'error' }]);
  expect(eventsOf([{ type: 'response.created', response: { id: 'a' } }]).at(-1)).toMatchObject({
    error: { message: "The model's reply broke off before its end." },
  });
});

test('a stream that ends at its token limit or a filter has that finish reason', () => {
  const finish = (reason: string) =>
    eventsOf([
      { type: 'response.incomplete', response: { status: 'incomplete', incomplete_details: { reason }, output: [] } },
    ]).find((event) => event.type === 'choice-end');
  expect(finish('max_output_tokens')).toMatchObject({ finish: { reason: 'length' } });
  expect(finish('content_filter')).toMatchObject({ finish: { reason: 'content-filter' } });
});

test('a final text that contradicts the deltas adds nothing', () => {
  const place = { item_id: 'm', output_index: 0, content_index: 0 };
  const textOf = (final: string) =>
    replyOf(
      eventsOf([
        { type: 'response.created', response: { id: 'r', model: 'm', output: [] } },
        { type: 'response.output_text.delta', ...place, delta: 'Hello' },
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: { id: 'm', type: 'message', content: [{ type: 'output_text', text: final, annotations: [] }] },
        },
        { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } },
      ]),
    ).choices[0]?.parts[0]?.content;
  expect(textOf('Hello, world.')).toBe('Hello, world.');
  expect(textOf('Goodbye, world.')).toBe('Hello');
});

test('a part of an image is told to whoever counts what was delivered', () => {
  const item = { type: 'image_generation_call', id: 'ig_1', status: 'in_progress', result: null };
  const events = eventsOf([
    { type: 'response.created', response: { id: 'resp_1', model: 'm' } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.image_generation_call.partial_image', output_index: 0, partial_image_b64: 'iVBORw0KGgo=' },
  ]);
  expect(events.filter(({ type }) => type === 'aside')).toMatchObject([{ isPartialImage: true, members: {} }]);
});
