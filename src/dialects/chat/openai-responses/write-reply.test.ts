/** The event sequence of a translated response, as the libraries require it. */
import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import { readCarriedSignature } from '../carried-signature.ts';
import { openaiResponses } from './openai-responses.ts';

const NO_BYTES = new Uint8Array(0);
const decoder = new TextDecoder();
const foreign = { dialect: 'gemini', value: 'proof' };

const start: ReplyEvent = { type: 'reply-start', id: 'resp_1', model: 'provider-model', createdSeconds: 7 };
const part = (index: number, opens: Extract<ReplyEvent, { type: 'part-start' }>['opens'], ...deltas: string[]) => [
  { type: 'part-start' as const, choice: 0, part: index, opens },
  ...deltas.map((delta) => ({ type: 'part-delta' as const, choice: 0, part: index, delta })),
];
const end = (index: number): ReplyEvent => ({ type: 'part-end', choice: 0, part: index });
const events: ReplyEvent[] = [
  start,
  ...part(0, { type: 'reasoning' }, 'Let me ', 'see.'),
  { type: 'part-signature', choice: 0, part: 0, signature: foreign },
  end(0),
  ...part(1, { type: 'text' }, 'Hello'),
  { type: 'part-citation', choice: 0, part: 1, citation: { url: 'https://a.example', start: 0, end: 5 } },
  end(1),
  ...part(2, { type: 'tool-call', id: 'call_1', name: 'look' }, '{"a"', ':1}'),
  ...part(3, { type: 'tool-call', id: 'call_2', name: 'patch', custom: true }, 'free'),
  { type: 'part-signature', choice: 0, part: 2, signature: foreign },
  end(2),
  end(3),
  { type: 'choice-end', choice: 0, finish: { reason: 'tool-calls' } },
  { type: 'usage', usage: { input: 10, cachedInput: 4, output: 5, reasoning: 2, source: 'reported' } },
  { type: 'reply-end' },
];

function written(given: readonly ReplyEvent[], stream = true): string {
  const writer = openaiResponses.writer(chatCall({ stream }));
  const pieces = given.map((event) => decoder.decode(writer.write({ bytes: NO_BYTES, events: [event] })));
  return pieces.join('') + decoder.decode(writer.end());
}

function payloads(text: string): JsonObject[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)));
}

test('events are in order, numbered from 0, with ids that never change', () => {
  const sent = payloads(written(events));
  expect(sent.map(({ sequence_number: number }) => number)).toEqual(sent.map((_, index) => index));
  expect(sent.map(({ type }) => String(type).replace('response.', ''))).toEqual([
    'created',
    'in_progress',
    'output_item.added',
    'reasoning_summary_part.added',
    'reasoning_summary_text.delta',
    'reasoning_summary_text.delta',
    'reasoning_summary_text.done',
    'reasoning_summary_part.done',
    'output_item.done',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.annotation.added',
    'output_text.done',
    'content_part.done',
    'output_item.done',
    'output_item.added',
    'function_call_arguments.delta',
    'function_call_arguments.delta',
    'output_item.added',
    'custom_tool_call_input.delta',
    'function_call_arguments.done',
    'output_item.done',
    'output_item.added',
    'output_item.done',
    'custom_tool_call_input.done',
    'output_item.done',
    'completed',
  ]);
  const ids = new Map<Json | undefined, Set<Json | undefined>>();
  for (const { output_index: index, item, item_id: id } of sent) {
    if (index !== undefined) ids.set(index, (ids.get(index) ?? new Set()).add((item as JsonObject)?.id ?? id));
  }
  for (const names of ids.values()) expect(names.size).toBe(1);
});

test("the last event has the whole output, the usage under both names, and the caller's model name", () => {
  const response = payloads(written(events)).at(-1)?.response as JsonObject;
  expect(response).toMatchObject({
    id: 'resp_1',
    object: 'response',
    created_at: 7,
    status: 'completed',
    model: 'public-model',
    error: null,
    incomplete_details: null,
    output: [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me see.' }] },
      { type: 'message', status: 'completed', content: [{ type: 'output_text', text: 'Hello' }] },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"a":1}', status: 'completed' },
      { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: 'free', status: 'completed' },
      { type: 'reasoning', summary: [] },
    ],
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 15,
      prompt_tokens: 10,
      completion_tokens: 5,
    },
  });
  const output = response.output as JsonObject[];
  expect(readCarriedSignature(String(output[0]?.encrypted_content))).toEqual({ signature: foreign });
  expect(readCarriedSignature(String(output[4]?.encrypted_content))).toEqual({ signature: foreign, of: 'call_1' });
  const whole = JSON.parse(written(events, false));
  expect(whole.output.map(({ type }: JsonObject) => type)).toEqual(output.map(({ type }) => type));
});

test('a token limit makes the response incomplete', () => {
  const cut: ReplyEvent[] = [
    start,
    ...part(0, { type: 'text' }, 'Hel'),
    end(0),
    { type: 'choice-end', choice: 0, finish: { reason: 'length' } },
  ];
  const last = payloads(written(cut)).at(-1);
  expect(last).toMatchObject({
    type: 'response.incomplete',
    response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  });
});

test('a run that breaks off ends in response.failed, then in an error of both shapes', () => {
  const writer = openaiResponses.writer(chatCall());
  const error = new GatewayError('upstream_failed', 'It broke.');
  writer.write({ bytes: NO_BYTES, events: events.slice(0, 3) });
  const sent = payloads(decoder.decode(writer.fail(error)));
  expect(sent).toMatchObject([
    { type: 'response.failed', response: { id: 'resp_1', status: 'failed', error: { message: 'It broke.' } } },
    { type: 'error', message: 'It broke.', code: 'upstream_failed', error: { message: 'It broke.' } },
  ]);
  const unstarted = payloads(decoder.decode(openaiResponses.writer(chatCall()).fail(error)));
  expect(unstarted.map(({ type }) => type)).toEqual(['error']);
});

/** A response with every required member. */
const WHOLE = JSON.parse(decoder.decode(openaiResponses.writer(chatCall({ stream: false })).end()));

test('passing on changes only the model name, or nothing if that is the same', () => {
  const { id: _, model: __, ...members } = WHOLE;
  const rest = JSON.stringify({ ...members, usage: null }).slice(1);
  const event = (model: string) =>
    `event: response.created\ndata: {"type":"response.created","response":{"id":"a",  "model":"${model}","n":1.0,${rest}}\n\n`;
  const pass = (text: string) => {
    const [frame] = openaiResponses.reader(chatCall(), 'text/event-stream', {}).read(new TextEncoder().encode(text));
    return frame ? decoder.decode(openaiResponses.writer(chatCall()).pass(frame)) : undefined;
  };
  expect(pass(event('provider-model'))).toBe(event('public-model'));
  expect(pass(event('public-model'))).toBe(event('public-model'));
  expect(pass(': comment\n\n')).toBe(': comment\n\n');
});

test("the reply repeats the client's settings", () => {
  const body = new TextEncoder().encode(
    JSON.stringify({ model: 'public-model', input: 'Hi', instructions: 'Be brief.', temperature: 0.5, store: false }),
  );
  const writer = openaiResponses.writer(chatCall({ stream: false, origin: { dialect: 'openai-responses', body } }));
  const response = JSON.parse(decoder.decode(writer.end()));
  expect(response).toMatchObject({ instructions: 'Be brief.', temperature: 0.5, store: false, top_p: 1, tools: [] });
});

describe('a response of a server that omits members is completed', () => {
  const call = (stream: boolean) => ({
    ...chatCall({ stream, origin: { dialect: 'openai-responses', body: new TextEncoder().encode('{"top_p":0.5}') } }),
    completedSeconds: 9,
  });
  const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
  const bare = {
    id: 'a',
    object: 'response',
    created_at: 5,
    status: 'completed',
    model: 'provider-model',
    output: [],
    tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }],
    text: { format: { type: 'json_schema', name: 's', schema: { type: 'object' } } },
    usage,
  };
  const whole = {
    ...WHOLE,
    ...bare,
    model: 'public-model',
    completed_at: 9,
    top_p: 0.5,
    tools: [
      { type: 'function', name: 'f', description: null, parameters: null, strict: false },
      { type: 'web_search' },
    ],
    text: { format: { ...bare.text.format, description: null, strict: false } },
    usage: {
      ...WHOLE.usage,
      ...usage,
      prompt_tokens: 3,
      completion_tokens: 4,
      prompt_tokens_details: { cached_tokens: 0, text_tokens: 3, audio_tokens: 0, image_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, text_tokens: 4, audio_tokens: 0 },
    },
  };

  test('non-streaming', () => {
    const reader = openaiResponses.reader(call(false), 'application/json', {});
    const writer = openaiResponses.writer(call(false));
    const frames = [...reader.read(Buffer.from(JSON.stringify(bare))), ...reader.end()];
    const body = frames.map((frame) => decoder.decode(writer.pass(frame))).join('');
    expect(JSON.parse(body)).toEqual(whole);
    expect(writer.kept?.()).toEqual(whole);
  });

  test('in the events of a stream, which keep their envelope', () => {
    const stream = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`;
    const text =
      stream({ type: 'response.created', response: { ...bare, status: 'in_progress', usage: null } }) +
      stream({ type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'm', delta: 'Hi' }) +
      stream({ type: 'response.completed', response: { ...bare, id: 'b' } });
    const reader = openaiResponses.reader(call(true), 'text/event-stream', {});
    const writer = openaiResponses.writer(call(true));
    const body = [...reader.read(Buffer.from(text)), ...reader.end()]
      .map((frame) => decoder.decode(writer.pass(frame)))
      .join('');
    expect(body).not.toContain('event:');
    const [created, , completed] = body.split('\n\n').map((event) => JSON.parse(event.slice('data: '.length) || '{}'));
    expect(created.response).toEqual({ ...whole, status: 'in_progress', completed_at: null, usage: null });
    expect(completed.response).toEqual(whole);
  });

  test('and has the charged usage if its provider reported none', () => {
    const reader = openaiResponses.reader(call(false), 'application/json', {});
    const writer = openaiResponses.writer(call(false));
    writer.bill?.({ input: 3, output: 4, source: 'counted' });
    const frames = [...reader.read(Buffer.from(JSON.stringify({ ...bare, usage: null }))), ...reader.end()];
    const body = frames.map((frame) => decoder.decode(writer.pass(frame))).join('');
    expect(JSON.parse(body).usage).toMatchObject({ input_tokens: 3, output_tokens: 4, prompt_tokens: 3 });
  });
});
