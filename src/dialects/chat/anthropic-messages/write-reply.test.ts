import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import { readCarriedSignature } from '../carried-signature.ts';
import { anthropicMessages } from './anthropic-messages.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NO_BYTES = new Uint8Array(0);

const start: ReplyEvent = { type: 'reply-start', id: 'chatcmpl-1', model: 'upstream' };
const partStart = (part: number, opening: Extract<ReplyEvent, { type: 'part-start' }>['opens']): ReplyEvent => ({
  type: 'part-start',
  choice: 0,
  part,
  opens: opening,
});
const partDelta = (part: number, delta: string): ReplyEvent => ({ type: 'part-delta', choice: 0, part, delta });
const signatures = (part: number, dialect = 'gemini'): ReplyEvent => ({
  type: 'part-signature',
  choice: 0,
  part,
  signature: { dialect, value: 'proof' },
});
const partEnd = (part: number): ReplyEvent => ({ type: 'part-end', choice: 0, part });
const stop: ReplyEvent = { type: 'choice-end', choice: 0, finish: { reason: 'stop' } };
const usage: ReplyEvent = {
  type: 'usage',
  usage: { input: 100, cachedInput: 30, cacheWrite: 5, cacheWriteHour: 6, output: 9, reasoning: 4, source: 'reported' },
};
const end: ReplyEvent = { type: 'reply-end' };
const toolCall = (id: string) => ({ type: 'tool-call' as const, id, name: 'look' });

/** The payloads that a client receives, one event per frame, and the check that every stream must pass. */
function streamed(events: ReplyEvent[], call = chatCall()): JsonObject[] {
  const writer = anthropicMessages.writer(call);
  const texts = events.map((event) => decoder.decode(writer.write({ bytes: NO_BYTES, events: [event] })));
  const text = texts.join('') + decoder.decode(writer.end());
  const payloads = text
    .split('\n\n')
    .filter((event) => event !== '' && !event.startsWith(':'))
    .map((event) => {
      const [head = '', data = ''] = event.split('\n');
      const payload = JSON.parse(data.slice('data: '.length)) as JsonObject;
      expect(head).toBe(`event: ${payload.type}`);
      return payload;
    });
  expect(payloads[0]?.type).toBe('message_start');
  expect(payloads.slice(-2).map((payload) => payload.type)).toEqual(['message_delta', 'message_stop']);
  expectContiguous(payloads);
  return payloads;
}

function expectContiguous(payloads: JsonObject[]): void {
  let next = 0;
  let open = false;
  for (const { type, index } of payloads) {
    if (type === 'content_block_start') {
      expect([open, index]).toEqual([false, next]);
      open = true;
    } else if (type === 'content_block_delta') expect([open, index]).toEqual([true, next]);
    else if (type === 'content_block_stop') {
      expect([open, index]).toEqual([true, next++]);
      open = false;
    }
  }
  expect(open).toBe(false);
}

/** The blocks as a library assembles them. */
function blocksOf(payloads: JsonObject[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const { type, content_block, delta } of payloads as {
    type: string;
    content_block: JsonObject;
    delta: JsonObject;
  }[]) {
    const last = blocks.at(-1);
    if (type === 'content_block_start') blocks.push({ ...content_block });
    else if (type === 'content_block_delta' && last) {
      if (delta.type === 'text_delta') last.text = `${last.text}${delta.text}`;
      if (delta.type === 'thinking_delta') last.thinking = `${last.thinking}${delta.thinking}`;
      if (delta.type === 'signature_delta') last.signature = delta.signature ?? '';
      if (delta.type === 'input_json_delta') last.json = `${last.json ?? ''}${delta.partial_json}`;
      if (delta.type === 'citations_delta') last.citation = delta.citation ?? null;
    }
  }
  return blocks;
}

function whole(events: ReplyEvent[], call = chatCall()): JsonObject {
  const writer = anthropicMessages.writer({ ...call, stream: false });
  writer.write({ bytes: NO_BYTES, events });
  return JSON.parse(decoder.decode(writer.end())) as JsonObject;
}

function read(text: string, call = chatCall(), contentType = 'text/event-stream'): ReplyEvent[] {
  const reader = anthropicMessages.reader(call, contentType, {});
  return [...reader.read(encoder.encode(text)), ...reader.end()].flatMap((frame) => frame.events);
}

const sse = (...payloads: JsonObject[]) =>
  payloads.map((payload) => `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`).join('');

describe('a translated stream', () => {
  test('begins with an estimate and ends with the reported usage', () => {
    const payloads = streamed([
      start,
      partStart(0, { type: 'text' }),
      partDelta(0, 'Hi'),
      partEnd(0),
      stop,
      usage,
      end,
    ]);
    const { message } = payloads[0] as { message: JsonObject };
    expect(message).toMatchObject({ id: 'msg_chatcmpl-1', model: 'public-model', content: [], stop_reason: null });
    expect((message.usage as JsonObject).input_tokens).toBeGreaterThan(0);
    expect(payloads.at(-2)).toEqual({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null, stop_details: null },
      usage: {
        input_tokens: 59,
        cache_read_input_tokens: 30,
        cache_creation_input_tokens: 11,
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 4 },
      },
    });
  });

  test('reports usage at the start if the provider did', () => {
    const writer = anthropicMessages.writer(chatCall());
    const text = decoder.decode(writer.write({ bytes: NO_BYTES, events: [start, usage] }));
    expect(text).toContain('"input_tokens":59');
  });

  test('has thinking, then text, then tool calls, one after another although they arrived interleaved', () => {
    const payloads = streamed([
      start,
      partStart(0, { type: 'reasoning' }),
      partDelta(0, 'Hm'),
      partStart(1, { type: 'text' }),
      partDelta(1, 'Looking'),
      partStart(2, toolCall('a')),
      partDelta(2, '{"x"'),
      partStart(3, toolCall('functions.b:1')),
      partDelta(3, '{"y":'),
      partDelta(2, ':1}'),
      partDelta(1, ' more'),
      partDelta(3, '2}'),
      partEnd(2),
      partEnd(3),
      partEnd(1),
      stop,
      end,
    ]);
    const blocks = blocksOf(payloads);
    expect(blocks.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use', 'tool_use', 'text']);
    expect(blocks.map(({ thinking, text, json }) => thinking ?? text ?? json)).toEqual([
      'Hm',
      'Looking',
      '{"x":1}',
      '{"y":2}',
      ' more',
    ]);
    expect(blocks[3]?.id).toMatch(/^toolu_[a-zA-Z0-9_-]+$/);
    expect(payloads.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } });
  });

  test('keeps a tool call complete if the provider returns to it', () => {
    const payloads = streamed([
      start,
      partStart(0, toolCall('a')),
      partEnd(0),
      partStart(1, toolCall('b')),
      partEnd(1),
      partStart(2, { type: 'text' }),
      partDelta(2, 'Hm'),
      partDelta(0, '{"x":'),
      partDelta(1, '{}'),
      partDelta(0, '1}'),
      partEnd(2),
      stop,
      end,
    ]);
    expect(blocksOf(payloads).map(({ json, text }) => json ?? text)).toEqual(['{"x":1}', '{}', 'Hm']);
  });

  test('has no empty blocks', () => {
    const blocks = blocksOf(
      streamed([
        start,
        partStart(0, { type: 'text' }),
        partDelta(0, ''),
        partEnd(0),
        partStart(1, { type: 'reasoning' }),
        partEnd(1),
        stop,
        end,
      ]),
    );
    expect(blocks).toEqual([]);
  });

  test('carries the signatures of other formats and takes them back', () => {
    const events = [
      start,
      partStart(0, { type: 'reasoning' }),
      partDelta(0, 'Hm'),
      signatures(0),
      partEnd(0),
      partStart(1, { type: 'reasoning' }),
      signatures(1, 'openai-responses'),
      partEnd(1),
      partStart(2, toolCall('a')),
      partDelta(2, '{}'),
      signatures(2),
      partEnd(2),
      stop,
      end,
    ];
    const payloads = streamed(events);
    const [thinking, hidden, call, carrier] = blocksOf(payloads);
    expect(readCarriedSignature(String(thinking?.signature))).toEqual({
      signature: { dialect: 'gemini', value: 'proof' },
    });
    expect(readCarriedSignature(String(hidden?.data))?.signature.dialect).toBe('openai-responses');
    expect(call?.type).toBe('tool_use');
    expect(readCarriedSignature(String(carrier?.data))).toEqual({
      signature: { dialect: 'gemini', value: 'proof' },
      of: 'a',
    });
    const again = read(sse(...payloads)).flatMap((event) =>
      event.type === 'part-signature' ? [event.signature.dialect] : [],
    );
    expect(again).toEqual(['gemini', 'openai-responses', 'gemini']);
    expect(blocksOf(payloads).map(({ json: _, ...one }) => one)).toEqual(whole(events).content as JsonObject[]);
  });

  test('carries late signatures in a block of their own', () => {
    const text = [partStart(0, { type: 'text' }), partDelta(0, 'Hi'), partEnd(0), signatures(0)];
    const thought = [
      partStart(0, { type: 'reasoning' }),
      partDelta(0, 'Hm'),
      partStart(1, { type: 'text' }),
      partDelta(1, 'Hi'),
      signatures(0),
      partEnd(1),
    ];
    const asks = chatCall({ reasoning: { effort: 'low' } });
    expect(blocksOf(streamed([start, ...text, stop, end], asks)).map(({ type }) => type)).toEqual([
      'text',
      'redacted_thinking',
    ]);
    expect(blocksOf(streamed([start, ...text, stop, end])).map(({ type }) => type)).toEqual(['text']);
    expect(blocksOf(streamed([start, ...thought, stop, end])).map(({ type }) => type)).toEqual([
      'thinking',
      'text',
      'redacted_thinking',
    ]);
  });

  test('writes free text as one string in the input', () => {
    const events = [
      start,
      partStart(0, { ...toolCall('a'), custom: true }),
      partDelta(0, 'a "b'),
      partDelta(0, '\n\u{1f600}'),
      partEnd(0),
      stop,
      end,
    ];
    const [call] = blocksOf(streamed(events));
    expect(JSON.parse(String(call?.json))).toEqual({ input: 'a "b\n\u{1f600}' });
    expect(whole(events).content).toEqual([
      { type: 'tool_use', id: 'a', name: 'look', input: { input: 'a "b\n\u{1f600}' } },
    ]);
  });

  test('writes refusals, images, speech transcripts and citations as well as it can', () => {
    const citation: ReplyEvent = {
      type: 'part-citation',
      choice: 0,
      part: 1,
      citation: { url: 'https://a.example', title: 'A' },
    };
    const events: ReplyEvent[] = [
      start,
      partStart(0, { type: 'image', mimeType: 'image/png' }),
      partDelta(0, 'QUJD'),
      partEnd(0),
      partStart(1, { type: 'text' }),
      partDelta(1, 'See'),
      citation,
      partEnd(1),
      partStart(2, { type: 'audio', id: 'au' }),
      { type: 'part-transcript', choice: 0, part: 2, delta: 'Spoken' },
      partEnd(2),
      partStart(3, { type: 'refusal' }),
      partDelta(3, 'No.'),
      partEnd(3),
      stop,
      end,
    ];
    const payloads = streamed(events);
    const blocks = blocksOf(payloads);
    expect(blocks.map(({ text }) => text)).toEqual(['![image](data:image/png;base64,QUJD)', 'See', 'Spoken', 'No.']);
    expect(blocks[1]?.citation).toMatchObject({
      type: 'web_search_result_location',
      url: 'https://a.example',
      title: 'A',
    });
    expect(payloads.at(-2)).toMatchObject({ delta: { stop_reason: 'refusal' } });
    const message = whole(events);
    expect((message.content as JsonObject[]).map(({ text }) => text)).toEqual(blocks.map(({ text }) => text ?? null));
    expect(message.stop_reason).toBe('refusal');
  });

  test('estimates usage if the provider reported none, and has the first choice only', () => {
    const second: ReplyEvent = { type: 'part-start', choice: 1, part: 0, opens: { type: 'text' } };
    const payloads = streamed([start, partStart(0, { type: 'text' }), second, partDelta(0, 'x'.repeat(40)), stop, end]);
    expect(payloads.at(-2)).toMatchObject({ usage: { output_tokens: 10 } });
    expect(blocksOf(payloads).length).toBe(1);
  });

  test('has an id of its own if the provider gave none', () => {
    const nameless = { ...start, id: '' } as ReplyEvent;
    const ids = [whole([nameless, end]).id, whole([nameless, end]).id];
    const [opening] = streamed([nameless, stop, end]);
    ids.push((opening as unknown as { message: { id: string } }).message.id);
    for (const id of ids) expect(id).toMatch(/^msg_[0-9A-Za-z]{24}$/);
    expect(new Set(ids).size).toBe(3);
  });

  test('reports an error without an end, and keeps idle streams open', () => {
    const writer = anthropicMessages.writer(chatCall());
    const text = decoder.decode(writer.fail(new GatewayError('upstream_unavailable', 'Too busy.')));
    expect(text).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Too busy."}}\n\n',
    );
    expect(decoder.decode(writer.keepAlive())).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  });
});
