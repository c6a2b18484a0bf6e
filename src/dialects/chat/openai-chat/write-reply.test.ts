/** Passing on: well-formed streams byte for byte, others in the form that a strict client accepts. */

import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { recordedCases, replyBytes, replyContentType } from '../../../../test/helpers/fixtures.ts';
import type { ChatCall } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import { openaiChat } from './openai-chat.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function callOf(members: Partial<ChatCall> = {}): ChatCall {
  const origin = { dialect: openaiChat.name, body: new Uint8Array() };
  return chatCall({ model: 'public', origin, messages: [], ...members });
}

/** What a client receives for these upstream bytes, and what they meant. */
function passed(bytes: Uint8Array, call: ChatCall, contentType = 'text/event-stream') {
  const reader = openaiChat.reader(call, contentType, {});
  const writer = openaiChat.writer(call);
  const frames = [...reader.read(bytes), ...reader.end()];
  const events = frames.flatMap((frame) => frame.events);
  const parts = frames.map((frame) => writer.pass(frame));
  if (events.at(-1)?.type === 'reply-end') parts.push(writer.end());
  return { text: decoder.decode(Buffer.concat(parts)), events };
}

const passText = (lines: string[], call = callOf()) =>
  passed(encoder.encode(lines.map((line) => `data: ${line}\n\n`).join('')), call).text;

function payloads(text: string): JsonObject[] {
  const objects: JsonObject[] = [];
  for (const event of text.split(/\r?\n\r?\n/)) {
    const payload = /^data: (\{.*)$/s.exec(event)?.[1];
    const value: unknown = payload && JSON.parse(payload);
    if (isObject(value)) objects.push(value);
  }
  return objects;
}

const chunk = (choice: object, more: object = {}) =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    ...more,
    choices: [{ index: 0, ...choice }],
  });

const streams = recordedCases('openai-chat').filter((recorded) => recorded.stream);
const isWellFormed = (file: string) =>
  !/alibaba-tool|mistral\/(mistral-incremental|prism-stream-with-tools-1-1)|snowflake|gpustack|annotations_stream|openrouter|anthropic-fallback|xai-|perplexity/.test(
    file,
  );

describe('passing a recorded stream on', () => {
  test.each(
    streams.filter(({ file, status }) => status === 200 && isWellFormed(file)).map((one) => [one.file, one] as const),
  )('changes only the model name: %s', (_, recorded) => {
    const bytes = replyBytes(recorded);
    const original = decoder.decode(bytes);
    const { text, events } = passed(bytes, callOf(), replyContentType(recorded));
    const expected = original.replace(/("model": ?)"[^"]*"/g, '$1"public"');
    if (events.at(-1)?.type === 'error') expect(expected.startsWith(text)).toBe(true);
    else expect(text).toBe(expected);
  });

  test.each(streams.map((one) => [one.file, one] as const))('gives what a strict client accepts: %s', (_, recorded) => {
    const { text, events } = passed(replyBytes(recorded), callOf(), replyContentType(recorded));
    const seen = strictly(payloads(text));
    if (events.at(-1)?.type === 'error') return;
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    expect(seen).toEqual({
      choices: [...new Set(seen.choices)],
      roles: seen.choices.length,
      finishes: seen.choices.length,
    });
  });
});

/** Fails as the strict helpers do. */
function strictly(chunks: readonly JsonObject[]) {
  const choices: number[] = [];
  const calls = new Set<string>();
  let roles = 0;
  let finishes = 0;
  for (const one of chunks) {
    if (!Array.isArray(one.choices)) throw new Error('chunk.choices is not iterable');
    for (const choice of one.choices) {
      if (!isObject(choice) || !isObject(choice.delta)) throw new Error('no delta');
      if (!Number.isInteger(choice.index)) throw new Error('invalid choice index');
      if (!choices.includes(Number(choice.index))) {
        choices.push(Number(choice.index));
        if (choice.delta.role === 'assistant') roles++;
      }
      if (choice.finish_reason) finishes++;
      for (const list of Object.values(choice.delta)) {
        for (const entry of Array.isArray(list) ? list : []) {
          if (!isObject(entry) || !Number.isInteger(entry.index)) throw new Error('list entry without index');
        }
      }
      for (const call of Array.isArray(choice.delta.tool_calls) ? choice.delta.tool_calls : []) {
        if (!isObject(call)) continue;
        const key = `${choice.index}/${call.index}`;
        const opens = !calls.has(key);
        calls.add(key);
        if (opens && (call.type !== 'function' || !call.id)) throw new Error('tool call snapshot missing `type` or id');
        if (!opens && ('id' in call || call.type === null || (isObject(call.function) && 'name' in call.function))) {
          throw new Error('changed tool call identity');
        }
      }
    }
  }
  return { choices, roles, finishes };
}

describe('normalizes', () => {
  test('a first delta without a role, a later one with empty names', () => {
    const text = passText([
      chunk({ delta: { tool_calls: [{ function: { name: 'f', arguments: '' }, id: 'a' }] }, finish_reason: null }),
      chunk({ delta: { tool_calls: [{ index: 0, id: null, type: null, function: { name: '', arguments: '{}' } }] } }),
      chunk({ delta: {}, finish_reason: 'tool_calls' }),
      '[DONE] ',
    ]);
    const [first, second] = payloads(text).map((one) => (one.choices as JsonObject[])[0]?.delta);
    expect(first).toEqual({
      tool_calls: [{ function: { name: 'f', arguments: '' }, id: 'a', index: 0, type: 'function' }],
      role: 'assistant',
    });
    expect(second).toEqual({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('tool calls that all have index 0', () => {
    const call = (id: string) =>
      chunk({
        delta: {
          role: 'assistant',
          tool_calls: [{ index: 0, id, type: 'function', function: { name: id, arguments: '{}' } }],
        },
      });
    const { text, events } = passed(
      encoder.encode(`data: ${call('a')}\n\ndata: ${call('b')}\n\ndata: [DONE]\n\n`),
      callOf(),
    );
    expect(events.filter((event) => event.type === 'part-start').map((event) => event.part)).toEqual([0, 1]);
    expect(strictly(payloads(text)).finishes).toBe(1);
    expect(payloads(text).at(-1)).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] });
  });

  test('a second finish reason, a usage chunk without choices, a missing [DONE]', () => {
    const text = passText([
      chunk({ delta: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }),
      chunk({ delta: { content: '' }, finish_reason: 'stop', native_finish_reason: 'end' }),
      '{"id":"c","model":"m","usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}',
    ]);
    const [, second, usage] = payloads(text);
    expect(second).toMatchObject({ choices: [{ finish_reason: null, native_finish_reason: 'end' }] });
    expect(usage).toMatchObject({ choices: [], model: 'public' });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test("Azure's empty first chunk, blank data and unrequested usage are left out; comments stay", () => {
    const head = '{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[]}';
    const usage =
      '{"id":"c","model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}';
    const body = chunk({ delta: { role: 'assistant', content: 'x' }, finish_reason: 'stop' });
    const bytes = encoder.encode(
      `: hello\n\ndata: ${head}\n\ndata: \n\ndata: ${body}\n\ndata: ${usage}\n\ndata: [DONE]\n\n`,
    );
    const { text, events } = passed(bytes, callOf({ wantsUsage: false }));
    expect(text).toBe(`: hello\n\ndata: ${body.replace('"m"', '"public"')}\n\ndata: [DONE]\n\n`);
    expect(events.some((event) => event.type === 'usage')).toBe(true);
  });

  test('lists of reasoning and text become two strings, in a stream and non-streaming', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'yes' },
    ];
    const [first] = payloads(
      passText([chunk({ delta: { role: 'assistant', content }, finish_reason: 'stop' }), '[DONE]']),
    );
    expect(first).toMatchObject({ choices: [{ delta: { content: 'yes', reasoning_content: 'hm' } }] });
    const whole = {
      id: 'c',
      model: 'm',
      x: 1,
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    };
    const { text } = passed(encoder.encode(JSON.stringify(whole)), callOf({ stream: false }), 'application/json');
    expect(JSON.parse(text)).toMatchObject({
      x: 1,
      model: 'public',
      choices: [{ message: { content: 'yes', reasoning_content: 'hm' } }],
    });
  });

  test('reasoning counted beside the output is included', () => {
    const usage = {
      prompt_tokens: 12,
      completion_tokens: 2,
      total_tokens: 334,
      completion_tokens_details: { reasoning_tokens: 320 },
    };
    const { text, events } = passed(
      encoder.encode(
        JSON.stringify({
          id: 'c',
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
          usage,
        }),
      ),
      callOf({ stream: false }),
      'application/json',
    );
    expect(JSON.parse(text).usage.completion_tokens).toBe(322);
    expect(events.find((event) => event.type === 'usage')).toMatchObject({
      usage: { input: 12, output: 322, reasoning: 320 },
    });
  });
});

describe('a non-streaming reply', () => {
  test('keeps its bytes except the model name', () => {
    const body =
      '\n {"id":"c","x":1e400,"big":123456789012345678901,"model" : "m","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]}\n';
    const { text } = passed(encoder.encode(body), callOf({ stream: false }), 'application/json');
    expect(text).toBe(body.replace('"m"', '"public"'));
  });

  test('is written as a stream for a client that requested one, and the other way around', () => {
    const whole = {
      id: 'c',
      created: 5,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
    };
    const { text } = passed(encoder.encode(JSON.stringify(whole)), callOf(), 'application/json');
    expect(strictly(payloads(text))).toEqual({ choices: [0], roles: 1, finishes: 1 });
    const { text: body } = passed(encoder.encode(`${text}`), callOf({ stream: false }));
    expect(JSON.parse(body)).toMatchObject({
      id: 'c',
      created: 5,
      object: 'chat.completion',
      model: 'public',
      choices: [{ message: { content: 'x' } }],
    });
  });
});

describe('incomplete replies', () => {
  const lastEvent = (text: string): ReplyEvent | undefined => passed(encoder.encode(text), callOf()).events.at(-1);

  test.each([
    ['nothing at all', ''],
    ['no finish and no [DONE]', `data: ${chunk({ delta: { role: 'assistant', content: 'x' } })}\n\n`],
    ['a torn object', 'data: {"id":\n\n'],
    ['an error object', 'data: {"error":{"message":"boom","code":500}}\n\ndata: [DONE]\n\n'],
    ['an error event', 'event: error\ndata: {"message":"boom"}\n\n'],
  ])('%s is an error', (_, text) => {
    expect(lastEvent(text)).toMatchObject({ type: 'error' });
  });

  test('the client gets an error in its format, without a terminator', () => {
    const text = decoder.decode(openaiChat.writer(callOf()).fail(new GatewayError('upstream_failed', 'Sorry.')));
    expect(text).toBe(
      'data: {"error":{"message":"Sorry.","type":"api_error","param":"","code":"upstream_failed"}}\n\n',
    );
  });
});

describe('translated replies', () => {
  const written = (events: ReplyEvent[], call = callOf()) => {
    const writer = openaiChat.writer(call);
    return decoder.decode(Buffer.concat([writer.write({ bytes: new Uint8Array(), events }), writer.end()]));
  };
  const events: ReplyEvent[] = [
    { type: 'reply-start', id: 'r', model: 'm', createdSeconds: 7 },
    { type: 'part-start', choice: 0, part: 0, opens: { type: 'reasoning' } },
    { type: 'part-delta', choice: 0, part: 0, delta: 'hm' },
    { type: 'part-signature', choice: 0, part: 0, signature: { dialect: 'elsewhere', value: 'proof' } },
    { type: 'part-end', choice: 0, part: 0 },
    { type: 'part-start', choice: 0, part: 1, opens: { type: 'text' } },
    { type: 'part-delta', choice: 0, part: 1, delta: '💶 a' },
    { type: 'part-end', choice: 0, part: 1 },
    { type: 'part-start', choice: 0, part: 2, opens: { type: 'text' } },
    { type: 'part-delta', choice: 0, part: 2, delta: 'b' },
    { type: 'part-citation', choice: 0, part: 2, citation: { url: 'https://a.example', start: 0, end: 1 } },
    { type: 'part-end', choice: 0, part: 2 },
    { type: 'part-start', choice: 0, part: 3, opens: { type: 'tool-call', id: 'x', name: 'f' } },
    { type: 'part-delta', choice: 0, part: 3, delta: '{}' },
    { type: 'part-end', choice: 0, part: 3 },
    { type: 'choice-end', choice: 0, finish: { reason: 'stop' } },
    { type: 'usage', usage: { input: 3, output: 4, source: 'reported' } },
    { type: 'reply-end' },
  ];

  test('a strict client accepts them; tool calls take precedence over an ordinary finish reason', () => {
    const text = written(events);
    const chunks = payloads(text);
    expect(strictly(chunks)).toEqual({ choices: [0], roles: 1, finishes: 1 });
    expect(new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`))).toEqual(
      new Set(['r 7 public']),
    );
    expect(text).toContain('"finish_reason":"tool_calls"');
    expect(text).toContain('"start_index":3,"end_index":4');
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    });
    expect(written(events, callOf({ wantsUsage: false }))).not.toContain('"usage"');
  });

  test('a signature returns to the part it belongs to', () => {
    const message = JSON.parse(written(events, callOf({ stream: false }))).choices[0].message;
    const body = encoder.encode(JSON.stringify({ model: 'public', messages: [message] }));
    const call = openaiChat.readCall({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });
    expect(call.messages[0]?.parts[0]).toEqual({
      type: 'reasoning',
      text: 'hm',
      signature: { dialect: 'elsewhere', value: 'proof' },
    });
  });

  test('a client of deprecated functions gets one', () => {
    const call = callOf({ extras: { [openaiChat.name]: { functions: [{ name: 'f' }] } } });
    expect(strictly(payloads(written(events, call))).finishes).toBe(1);
    expect(written(events, call)).toContain('"delta":{"function_call":{"name":"f","arguments":""}}');
    expect(written(events, call)).toContain('"finish_reason":"function_call"');
    const whole = JSON.parse(written(events, { ...call, stream: false }));
    expect(whole.choices[0].message.function_call).toEqual({ name: 'f', arguments: '{}' });
  });
});

describe('usage of a model that generates images has three counts only', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  const more = { ...usage, cost: 1, completion_tokens_details: { image_tokens: 4 } };
  const message = { role: 'assistant', content: '![image](data:image/png;base64,AAAA)' };
  const head = { id: 'c', created: 7, model: 'm' };

  test.each([true, false])('translated, stream %p', (stream) => {
    const writer = openaiChat.writer({ ...callOf(), stream, wantsUsage: true, countsAlone: true });
    const events: ReplyEvent[] = [
      { type: 'reply-start', id: 'c', model: 'm' },
      { type: 'choice-end', choice: 0, finish: { reason: 'stop' } },
      { type: 'usage', usage: { input: 3, output: 4, imageOutput: 4, source: 'reported' } },
    ];
    const text = decoder.decode(writer.write({ bytes: new Uint8Array(), events })) + decoder.decode(writer.end());
    expect(text).toContain(`"usage":${JSON.stringify(usage)}`);
  });

  test.each([true, false])('passed on, stream %p', (stream) => {
    const call = { ...callOf(), stream, wantsUsage: true, countsAlone: true as const };
    const choice = { index: 0, finish_reason: 'stop' };
    const chunks = [{ choices: [{ ...choice, delta: message }] }, { choices: [], usage: more }];
    const body = stream
      ? `${chunks.map((chunk) => `data: ${JSON.stringify({ ...head, ...chunk })}\n\n`).join('')}data: [DONE]\n\n`
      : JSON.stringify({ ...head, choices: [{ ...choice, message }], usage: more });
    const reader = openaiChat.reader(call, stream ? 'text/event-stream' : 'application/json', {});
    const writer = openaiChat.writer(call);
    const frames = [...reader.read(Buffer.from(body)), ...reader.end()];
    const text = frames.map((frame) => decoder.decode(writer.pass(frame))).join('') + decoder.decode(writer.end());
    expect(text).toContain(`"usage":${JSON.stringify(usage)}`);
    expect(text).not.toContain('cost');
  });
});
