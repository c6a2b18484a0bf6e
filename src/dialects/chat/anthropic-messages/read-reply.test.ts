import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { addEvent, emptyReply, type Reply, type ReplyEvent } from '../../../canonical/reply.ts';
import { anthropicMessages } from './anthropic-messages.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NO_BYTES = new Uint8Array(0);

function read(text: string, call = chatCall(), contentType = 'text/event-stream'): ReplyEvent[] {
  const reader = anthropicMessages.reader(call, contentType, {});
  return [...reader.read(encoder.encode(text)), ...reader.end()].flatMap((frame) => frame.events);
}

function replyOf(events: ReplyEvent[]): Reply {
  const reply = emptyReply();
  for (const event of events) addEvent(reply, event);
  return reply;
}

const sse = (...payloads: JsonObject[]) =>
  payloads.map((payload) => `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`).join('');
const messageStart = {
  type: 'message_start',
  message: { id: 'msg_1', model: 'upstream', content: [], usage: { input_tokens: 3, output_tokens: 1 } },
};
const messageEnd = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
];
const block = (index: number, content_block: JsonObject, ...deltas: JsonObject[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];

describe('a reply of the provider', () => {
  test('is passed on unchanged except the model name', () => {
    const text = sse(
      messageStart,
      { type: 'ping' },
      ...block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'upstream' }),
      ...messageEnd,
    );
    const writer = anthropicMessages.writer(chatCall());
    const reader = anthropicMessages.reader(chatCall(), 'text/event-stream', {});
    const passed = reader.read(encoder.encode(text)).map((frame) => decoder.decode(writer.pass(frame)));
    expect(passed.join('') + decoder.decode(writer.end())).toBe(
      text.replace('"model":"upstream"', '"model":"public-model"'),
    );

    const body = '{ "model" : "upstream", "content": [{"type":"text","text":"\\"model\\""}], "usage":{} }\n';
    const call = chatCall({ stream: false });
    const jsonReader = anthropicMessages.reader(call, 'application/json', {});
    jsonReader.read(encoder.encode(body));
    const jsonWriter = anthropicMessages.writer(call);
    for (const frame of jsonReader.end()) jsonWriter.pass(frame);
    expect(decoder.decode(jsonWriter.end())).toBe(body.replace('"upstream"', '"public-model"'));
  });

  test('is normalized where the libraries would not accept it', () => {
    const nameless = [messageStart, messageStart, ...block(0, { type: 'text', text: '' }), ...messageEnd]
      .map((payload) => `data: ${JSON.stringify(payload)}\n\n`)
      .join('');
    const writer = anthropicMessages.writer(chatCall());
    const reader = anthropicMessages.reader(chatCall(), 'text/event-stream', {});
    const frames = [...reader.read(encoder.encode(`${nameless.trimEnd()}`)), ...reader.end()];
    const passed = frames.map((frame) => decoder.decode(writer.pass(frame))).join('');
    expect(passed.match(/event: message_start/g)?.length).toBe(1);
    expect(passed).toContain('"model":"public-model"');
    expect(passed.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true);
  });

  test('without its end is an error', () => {
    const events = read(sse(messageStart, ...block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'Hi' })));
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'upstream_failed', retryable: true } });
    expect(read('').at(-1)?.type).toBe('error');
  });

  test.each([
    ['overloaded_error', 'upstream_unavailable'],
    ['rate_limit_error', 'rate_limited'],
    ['api_error', 'upstream_failed'],
    ['timeout_error', 'upstream_timeout'],
    ['authentication_error', 'upstream_failed'],
    ['invalid_request_error', 'upstream_refused'],
  ])('may break off with %s', (type, code) => {
    const [event] = read(sse({ type: 'error', error: { type, message: 'So it is.' } }));
    expect(event).toMatchObject({ type: 'error', error: { code } });
  });

  test('may be complete in its first event', () => {
    const content = [{ type: 'tool_use', id: 'a', name: 'roll', input: { player: 1 } }];
    const message = { ...messageStart.message, content, stop_reason: 'tool_use' };
    const reply = replyOf(read(sse({ type: 'message_start', message }, { type: 'message_stop' })));
    expect(reply.choices[0]?.parts).toEqual([
      { opens: { type: 'tool-call', id: 'a', name: 'roll' }, content: '{"player":1}' },
    ]);
    expect(reply.choices[0]?.finish?.reason).toBe('tool-calls');
    expect(reply.usage).toEqual({ input: 3, output: 1, source: 'reported' });
  });

  test('has its totals in one figure, including passes that the totals omit', () => {
    const figures = {
      input_tokens: 10,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 12,
      cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 7 },
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 2 },
      server_tool_use: { web_search_requests: 1, web_fetch_requests: 2 },
      iterations: [
        { type: 'compaction', input_tokens: 100, output_tokens: 50 },
        { type: 'message', input_tokens: 10, output_tokens: 9 },
      ],
    };
    const body = JSON.stringify({ id: 'msg', content: [], stop_reason: 'end_turn', usage: figures });
    expect(replyOf(read(body, chatCall({ stream: false }), 'application/json')).usage).toEqual({
      input: 142,
      cachedInput: 20,
      cacheWrite: 5,
      cacheWriteHour: 7,
      output: 59,
      reasoning: 2,
      serverToolCalls: 3,
      freeToolCalls: 2,
      source: 'reported',
    });
  });

  test('returns wrapped tools as what they replace', () => {
    const call = chatCall({
      tools: [
        { type: 'custom', name: 'patch' },
        { type: 'function', name: 'files.read' },
      ],
      output: { type: 'json-schema', name: 'city', schema: { type: 'array' } },
    });
    const illegal = JSON.parse(
      decoder.decode(
        anthropicMessages.writeCall({ ...call, origin: { dialect: 'x', body: NO_BYTES } }, 'kimi', {}).body,
      ),
    ) as { tools: JsonObject[] };
    const mapped = String(illegal.tools[1]?.name);
    const use = (index: number, name: string, ...pieces: string[]) =>
      block(
        index,
        { type: 'tool_use', id: `t${index}`, name, input: {} },
        ...pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      );
    const events = read(
      sse(
        messageStart,
        ...use(0, 'patch', '{"inp', 'ut":"a\\nb"}'),
        ...use(1, mapped, '', '{}'),
        ...use(2, 'structured_answer', '{"answer":[1,', '2]}'),
        ...messageEnd,
      ),
      call,
    );
    expect(replyOf(events).choices[0]?.parts.map(({ opens: opening, content }) => [opening, content])).toEqual([
      [{ type: 'tool-call', id: 't0', name: 'patch', custom: true }, 'a\nb'],
      [{ type: 'tool-call', id: 't1', name: 'files.read' }, '{}'],
      [{ type: 'text' }, '[1,2]'],
    ]);
  });

  test('that used its forced answer tool has stopped normally', () => {
    const call = chatCall({ output: { type: 'json-schema', name: 'city', schema: { type: 'object' } } });
    const text = sse(
      messageStart,
      ...block(
        0,
        { type: 'tool_use', id: 't', name: 'structured_answer', input: {} },
        { type: 'input_json_delta', partial_json: '{"a":1}' },
      ),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    );
    const [choice] = replyOf(read(text, call)).choices;
    expect(choice?.parts[0]?.content).toBe('{"a":1}');
    expect(choice?.finish?.reason).toBe('stop');
  });
});

describe('an error of the provider', () => {
  const refusal = (status: number, type: string, message: string, headers = {}) =>
    anthropicMessages.readError(
      status,
      new Headers(headers),
      encoder.encode(JSON.stringify({ type: 'error', error: { type, message } })),
    );

  test("in the request is the client's, with the provider's message", () => {
    const error = refusal(400, 'invalid_request_error', 'max_tokens: too large');
    expect([error.code, error.status, error.message, error.retryable]).toEqual([
      'upstream_refused',
      400,
      'max_tokens: too large',
      false,
    ]);
    expect(refusal(413, 'request_too_large', 'Too large').status).toBe(413);
  });

  test("in the gateway's credential is hidden", () => {
    for (const error of [
      refusal(401, 'authentication_error', 'invalid x-api-key'),
      refusal(403, 'permission_error', 'Your API key does not have permission'),
      refusal(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
    ]) {
      expect([error.code, error.retryable]).toEqual(['upstream_failed', true]);
      expect(error.message).not.toContain('key');
      expect(error.message).not.toContain('credit');
    }
  });

  test('of an overloaded provider lets another target try', () => {
    expect(refusal(529, 'overloaded_error', 'Overloaded').code).toBe('upstream_unavailable');
    expect(refusal(429, 'rate_limit_error', 'Slow', { 'retry-after': '7' })).toMatchObject({
      code: 'rate_limited',
      retryAfterSeconds: 7,
    });
    expect(refusal(409, 'conflict_error', 'Conflict').retryable).toBe(true);
    expect(anthropicMessages.readError(502, new Headers(), encoder.encode('<html>')).code).toBe('upstream_failed');
  });
});

describe('a second message_start', () => {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} };
  const cut = [messageStart, { type: 'content_block_start', index: 0, content_block: call }];

  test('at the start is ignored', () => {
    const text = sse(messageStart, messageStart, ...block(0, { type: 'text', text: 'Hello.' }), ...messageEnd);
    expect(replyOf(read(text)).choices[0]?.parts.map(({ content }) => content)).toEqual(['Hello.']);
    expect(read(text).at(-1)?.type).toBe('reply-end');
  });

  test('inside a block breaks the reply: no tool call with incomplete arguments is passed on', () => {
    const delta = { type: 'input_json_delta', partial_json: '{"city":' };
    const text = sse(
      ...cut,
      { type: 'content_block_delta', index: 0, delta },
      messageStart,
      ...block(0, call, { type: 'input_json_delta', partial_json: '{"city":"Paris"}' }),
      ...messageEnd,
    );
    const events = read(text);
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'upstream_failed' } });
    expect(events.filter(({ type }) => type === 'part-start')).toHaveLength(1);
    expect(events.some(({ type }) => type === 'part-end' || type === 'reply-end')).toBe(false);
  });
});
