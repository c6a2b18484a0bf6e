/** Properties of every call, reply and byte sequence, beyond the recordings. */
import { expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { fc } from '../../../../test/helpers/property.ts';
import type { ChatCall, Message, Part, Tool } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import { addEvent, emptyReply, type PartOpening, type ReplyEvent } from '../../../canonical/reply.ts';
import { boundedReader } from '../../shared/bounded-reader.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { legalToolId } from './tool-names.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NO_BYTES = new Uint8Array(0);
const OWN = anthropicMessages.name;
const MODELS = [
  'claude-3-haiku-20240307',
  'claude-sonnet-4-0',
  'claude-sonnet-4-5',
  'claude-opus-4-6',
  'claude-opus-5',
  'kimi',
];

function readCall(body: Uint8Array): ChatCall {
  const headers = new Headers({ 'anthropic-version': '2023-06-01' });
  return anthropicMessages.readCall({ body, headers, path: {}, query: new URLSearchParams() });
}

function readReply(text: string | Uint8Array, call: ChatCall): ReplyEvent[] {
  const bytes = typeof text === 'string' ? encoder.encode(text) : text;
  const type = call.stream ? 'text/event-stream' : 'application/json';
  const reader = boundedReader(anthropicMessages.reader(call, type, {}), call, { skippedEvents: 0 });
  return [...reader.read(bytes), ...reader.end()].flatMap((frame) => frame.events);
}

function expectOneEnd(events: readonly ReplyEvent[]): void {
  expect(events.filter((event) => event.type === 'reply-end' || event.type === 'error').length).toBe(1);
}

const words = fc.string({ unit: 'grapheme', maxLength: 12 });
const spoken = words.filter((text) => text.trim() !== '').map((text) => text.trim());
const signature = fc.record({
  dialect: fc.constantFrom(OWN, 'gemini'),
  value: fc.string({ minLength: 1, maxLength: 5 }),
});
const anything = fc.jsonValue({ maxDepth: 2 });

test('the reader accepts any bytes without crashing', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, stream) => {
      expectOneEnd(readReply(bytes, chatCall({ stream })));
    }),
  );
});

const strangeBlock = fc.record(
  {
    type: fc.constantFrom('text', 'thinking', 'redacted_thinking', 'tool_use', 'server_tool_use', 'x'),
    text: anything,
    thinking: anything,
    signature: anything,
    data: anything,
    id: anything,
    name: fc.oneof(anything, fc.constantFrom('patch', 'structured_answer')),
    input: anything,
    citations: fc.oneof(anything, fc.array(anything)),
  },
  { requiredKeys: [] },
);
const strangeEvent = fc.record(
  {
    type: fc.constantFrom(
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
      'error',
      'ping',
      'x',
    ),
    index: fc.oneof(fc.nat(3), anything),
    message: fc.oneof(
      anything,
      fc.record(
        { id: anything, model: anything, content: fc.array(fc.oneof(strangeBlock, anything)), usage: anything },
        { requiredKeys: [] },
      ),
    ),
    content_block: fc.oneof(strangeBlock, anything),
    delta: fc.oneof(
      anything,
      fc.record(
        {
          type: fc.constantFrom(
            'text_delta',
            'thinking_delta',
            'signature_delta',
            'input_json_delta',
            'citations_delta',
            'compaction_delta',
          ),
          text: anything,
          thinking: anything,
          signature: anything,
          partial_json: anything,
          citation: anything,
          stop_reason: anything,
        },
        { requiredKeys: [] },
      ),
    ),
    usage: fc.oneof(
      anything,
      fc.record(
        { input_tokens: anything, iterations: fc.array(anything), cache_creation: anything },
        { requiredKeys: [] },
      ),
    ),
    error: anything,
  },
  { requiredKeys: ['type'] },
);

test('the reader accepts any events without crashing, and parts stay in order', () => {
  const tools: Tool[] = [{ type: 'custom', name: 'patch' }];
  const output = { type: 'json-schema' as const, name: 'a', schema: { type: 'array' } };
  fc.assert(
    fc.property(fc.array(strangeEvent, { maxLength: 12 }), (payloads) => {
      const text = payloads.map((payload) => `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`).join('');
      const events = readReply(text, chatCall({ tools, output }));
      expectOneEnd(events);
      const open = new Set<number>();
      for (const event of events) {
        if (event.type === 'part-start') open.add(event.part);
        else if (event.type === 'part-end') expect(open.delete(event.part)).toBe(true);
        else if (event.type === 'part-delta') expect(open.has(event.part)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

test('reading a call accepts any body without crashing', () => {
  const block = fc.oneof(strangeBlock, anything);
  const body = fc.record(
    {
      model: fc.oneof(fc.constant('m'), anything),
      max_tokens: fc.oneof(fc.constant(5), anything),
      messages: fc.oneof(
        anything,
        fc.array(
          fc.record({
            role: fc.constantFrom('user', 'assistant', 'system'),
            content: fc.oneof(words, fc.array(block)),
          }),
          { minLength: 1 },
        ),
      ),
      system: fc.oneof(words, fc.array(block), anything),
      tools: fc.oneof(
        fc.array(fc.record({ name: anything, input_schema: anything, type: anything }, { requiredKeys: [] })),
        anything,
      ),
      tool_choice: anything,
      thinking: anything,
      output_config: anything,
      metadata: anything,
    },
    { requiredKeys: ['model', 'max_tokens', 'messages'] },
  );
  fc.assert(
    fc.property(body, (request) => {
      try {
        const call = readCall(encoder.encode(JSON.stringify(request)));
        anthropicMessages.passCall(call, 'claude-opus-5', {});
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown;
        expect(thrown.code).toBe('invalid_request');
      }
    }),
    { numRuns: 500 },
  );
});

const text = words.map((one): Part => ({ type: 'text', text: one }));
const cached = fc.record({
  type: fc.constant('text' as const),
  text: spoken,
  cache: fc.constantFrom({}, { ttl: '1h' as const }),
});
const image: Part = {
  type: 'media',
  media: { kind: 'image', mimeType: 'image/png', source: { type: 'inline', base64: 'iVBORw==' } },
};
const thought = fc.record({ type: fc.constant('reasoning' as const), text: words, signature });
const userTurn = fc
  .array(fc.oneof(text, cached, fc.constant(image)), { maxLength: 3 })
  .map((parts): Message[] => [{ role: 'user', parts }]);
const systemTurn = text.map((part): Message[] => [{ role: 'system', parts: [part] }]);
const input = fc.oneof(
  fc.dictionary(words, fc.oneof(words, fc.integer())).map((value) => JSON.stringify(value)),
  words,
);
/** A turn of tool calls, all answered, in any order. */
const toolTurns = fc
  .array(fc.record({ id: fc.string({ minLength: 1, maxLength: 80 }), input, failed: fc.boolean(), output: text }), {
    maxLength: 3,
  })
  .map((calls) =>
    calls.filter(({ id }, at) => calls.findIndex((one) => legalToolId(one.id) === legalToolId(id)) === at),
  )
  .chain((calls) =>
    fc.tuple(
      fc.constant(calls),
      fc.shuffledSubarray(calls, { minLength: calls.length }),
      fc.array(fc.oneof(thought, text), { maxLength: 2 }),
    ),
  )
  .map(([calls, resultIds, others]): Message[] => [
    {
      role: 'assistant',
      parts: [
        ...others,
        ...calls.map(({ id, input: written }): Part => ({ type: 'tool-call', id, name: 'look', input: written })),
      ],
    },
    ...resultIds.map(
      ({ id, failed, output }): Message => ({
        role: 'tool',
        parts: [{ type: 'tool-result', callId: id, parts: [output], failed }],
      }),
    ),
  ]);
const conversation = fc.array(fc.oneof(userTurn, systemTurn, toolTurns), { maxLength: 6 }).map((turns) => {
  // Ids name one tool call of a conversation.
  const messages = turns.map((turn, at) =>
    turn.map((message) => ({ ...message, parts: message.parts.map((part) => renamed(part, at)) })),
  );
  return messages.flat();
});

function renamed(part: Part, turn: number): Part {
  if (part.type === 'tool-call') return { ...part, id: `${turn}:${part.id}` };
  return part.type === 'tool-result' ? { ...part, callId: `${turn}:${part.callId}` } : part;
}

/** The contents of a conversation in order. How it is split into messages does not count. */
function linesOf(messages: readonly Message[]): string[] {
  const parts = messages.flatMap((message) => message.parts);
  return parts.flatMap((part) => {
    if (part.type === 'text') return part.text.trim() === '' ? [] : [part.text];
    if (part.type === 'media') return ['an image'];
    return part.type === 'reasoning' && part.signature?.dialect === OWN
      ? [`thinks ${part.text} ${part.signature.value}`]
      : [];
  });
}

function calls(messages: readonly Message[]): string[] {
  const parts = messages.flatMap((message) => message.parts);
  return parts.flatMap((part) => {
    if (part.type === 'tool-call') return [`${legalToolId(part.id)} ${part.name}`];
    if (part.type === 'tool-result')
      return [`${legalToolId(part.callId)} ${part.failed} ${linesOf([{ role: 'tool', parts: part.parts }])}`];
    return [];
  });
}

/** Every tool call is answered in the turn after it, roles alternate, no block is empty. */
function expectLegal(turns: { role: string; content: JsonObject[] }[]): void {
  expect(turns.length).toBeGreaterThan(0);
  for (const [at, { role, content }] of turns.entries()) {
    expect(content.length).toBeGreaterThan(0);
    expect(turns[at + 1]?.role).not.toBe(role);
    const callIds = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
    const resultIds = turns[at + 1]?.content.slice(0, callIds.length).map(({ tool_use_id }) => tool_use_id) ?? [];
    expect(resultIds.toSorted()).toEqual(callIds.toSorted());
    for (const block of content) if (block.type === 'text') expect(String(block.text).trim()).not.toBe('');
  }
}

test('any conversation arrives, except what is reported', () => {
  fc.assert(
    fc.property(conversation, fc.constantFrom(...MODELS), (messages, model) => {
      const written = anthropicMessages.writeCall(chatCall({ messages }), model, {});
      const body = JSON.parse(decoder.decode(written.body)) as { messages: { role: string; content: JsonObject[] }[] };
      expectLegal(body.messages);
      const again = readCall(written.body);
      expect(calls(again.messages).toSorted()).toEqual(calls(messages).toSorted());
      const isReworded = written.warnings.some((warning) => warning.includes('as user text'));
      const isPlaceholder =
        messages.every(({ role, parts }) => role === 'system' || linesOf([{ role, parts }]).length === 0) &&
        calls(messages).length === 0;
      if (!isReworded && !isPlaceholder) {
        const spokenNow = linesOf(again.messages).map((one) => one.trimEnd());
        expect(spokenNow.toSorted()).toEqual(
          linesOf(messages)
            .map((one) => one.trimEnd())
            .toSorted(),
        );
      }
      const twice = anthropicMessages.writeCall(again, model, {});
      expect(decoder.decode(twice.body)).toBe(decoder.decode(written.body));
    }),
    { numRuns: 300 },
  );
});

const opening = fc.oneof(
  fc.constantFrom<PartOpening>({ type: 'text' }, { type: 'text' }, { type: 'reasoning' }, { type: 'refusal' }),
  fc.boolean().map((custom): PartOpening => ({ type: 'tool-call', id: 'c', name: 'look', ...(custom && { custom }) })),
);
const partOfReply = fc.record({
  opens: opening,
  deltas: fc.array(words, { maxLength: 3 }),
  signature: fc.option(signature, { nil: undefined }),
});
/** Parts whose deltas are interleaved in any order. */
const replyEvents = fc
  .tuple(fc.array(partOfReply, { maxLength: 5 }), fc.infiniteStream(fc.nat()))
  .map(([parts, draws]) => {
    const rows = parts.map(({ opens, deltas, signature: signed }, part): ReplyEvent[] => [
      { type: 'part-start', choice: 0, part, opens: opens.type === 'tool-call' ? { ...opens, id: `c${part}` } : opens },
      ...deltas.map((delta): ReplyEvent => ({ type: 'part-delta', choice: 0, part, delta })),
      ...(signed && opens.type === 'reasoning'
        ? [{ type: 'part-signature' as const, choice: 0, part, signature: signed }]
        : []),
      { type: 'part-end', choice: 0, part },
    ]);
    const events: ReplyEvent[] = [{ type: 'reply-start', id: 'msg_1', model: 'm' }];
    let begun = 0;
    while (rows.some((row) => row.length > 0)) {
      const draw = draws.next().value % (begun + 1);
      const row = rows[draw] ?? [];
      // Parts begin in order.
      if (draw === begun && begun < rows.length) begun++;
      const event = row.shift();
      if (event) events.push(event);
      else if (begun < rows.length) events.push(...(rows[begun++]?.splice(0, 1) ?? []));
    }
    return [
      ...events,
      { type: 'choice-end', choice: 0, finish: { reason: 'stop' } },
      { type: 'reply-end' },
    ] as ReplyEvent[];
  });

test('any reply, with its parts interleaved, is read as it was written', () => {
  fc.assert(
    fc.property(replyEvents, fc.boolean(), (events, stream) => {
      const tools: Tool[] = [];
      const call = chatCall({ stream, tools });
      const writer = anthropicMessages.writer(call);
      const pieces = events.map((event) => writer.write({ bytes: NO_BYTES, events: [event] }));
      const bytes = new Uint8Array(Buffer.concat([...pieces, writer.end()]));
      const again = readReply(bytes, call);
      expect(again.at(-1)?.type).toBe('reply-end');
      expect(meaning(again)).toEqual(meaning(events));
    }),
    { numRuns: 300 },
  );
});

function meaning(events: readonly ReplyEvent[]) {
  const reply = emptyReply();
  for (const event of events) addEvent(reply, event);
  const parts = reply.choices[0]?.parts ?? [];
  const joined = (...types: string[]) =>
    parts.filter(({ opens }) => types.includes(opens.type)).map(({ content }) => content);
  return {
    // Text may be split into blocks differently, and a refusal is text here.
    text: [...joined('text', 'refusal').join('')].toSorted(),
    reasoning: [...joined('reasoning').join('')].toSorted(),
    signatures: parts.flatMap((part) => part.signature?.value ?? []).toSorted(),
    calls: parts.flatMap(({ opens, content }) =>
      opens.type === 'tool-call' ? [[opens.id, inputOf(content, opens.custom === true)]] : [],
    ),
  };
}

/**
 * Free text and arguments that are not an object return in one member: the reader did not get the tool's definition.
 */
function inputOf(content: string, custom: boolean): unknown {
  if (!custom && content.trim() === '') return {};
  try {
    const value: unknown = custom ? undefined : JSON.parse(content);
    if (isObject(value)) return value;
  } catch {
    // Not JSON.
  }
  return { input: content };
}
