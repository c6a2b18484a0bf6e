/** Properties of every conversation and reply, beyond the recordings. */
import { expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { fc } from '../../../../test/helpers/property.ts';
import type { ChatCall, Message, Part } from '../../../canonical/call.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import { addEvent, emptyReply, type PartOpening, type ReplyEvent } from '../../../canonical/reply.ts';
import { gemini } from './gemini.ts';

const NO_BYTES = new Uint8Array(0);
const MODELS = [
  'gemini-1.5-pro',
  'gemini-2.5-flash',
  'gemini-2.5-pro',
  'gemini-3.1-pro',
  'gemini-flash-latest',
  'gemma-3',
];

function readCall(body: Uint8Array): ChatCall {
  const path = { model: 'm', action: 'generateContent' };
  return gemini.readCall({ body, headers: new Headers(), path, query: new URLSearchParams() });
}

function readReply(bytes: Uint8Array, call: ChatCall, contentType: string): ReplyEvent[] {
  const reader = gemini.reader(call, contentType, {});
  return [...reader.read(bytes), ...reader.end()].flatMap((frame) => frame.events);
}

function replyOf(events: readonly ReplyEvent[]) {
  const reply = emptyReply();
  for (const event of events) addEvent(reply, event);
  return reply;
}

const words = fc.string({ unit: 'grapheme', maxLength: 12 });
const nonEmptyText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });

const own = fc.record({ dialect: fc.constant('gemini'), value: fc.constantFrom('c2ln', 'cHJvb2Y=') });
const foreign = fc.record({ dialect: fc.constant('anthropic-messages'), value: nonEmptyText });
const name = fc.constantFrom('f', 'get_weather', 'a.b:c-d');
const call = (signature: fc.Arbitrary<{ dialect: string; value: string }>) =>
  fc.record(
    {
      type: fc.constant('tool-call' as const),
      name,
      input: fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), words).map((args) => JSON.stringify(args)),
      signature,
    },
    { requiredKeys: ['type', 'name', 'input'] },
  );
const media = fc.record({
  type: fc.constant('media' as const),
  media: fc.record({
    kind: fc.constant('audio' as const),
    mimeType: fc.constantFrom('audio/wav', 'audio/ogg'),
    source: fc.record({ type: fc.constant('inline' as const), base64: fc.constantFrom('AAAA', 'UklG') }),
  }),
});
const result = fc.record({
  failed: fc.boolean(),
  text: fc.oneof(
    words,
    fc.dictionary(fc.constantFrom('a', 'output', 'error'), words).map((value) => JSON.stringify(value)),
  ),
});

interface Exchange {
  prompts: string[];
  reasoning: { text: string; signature: { dialect: string; value: string } } | undefined;
  output: string;
  calls: Part[];
  results: { failed: boolean; text: string }[];
}

/** Conversations in this format, as a client's request is read. */
const exchange: fc.Arbitrary<Exchange> = fc.record({
  prompts: fc.array(nonEmptyText, { minLength: 1, maxLength: 3 }),
  reasoning: fc.option(fc.record({ text: nonEmptyText, signature: own }), { nil: undefined }),
  output: nonEmptyText,
  calls: fc.array(call(own), { maxLength: 3 }) as fc.Arbitrary<Part[]>,
  results: fc.array(result, { minLength: 3, maxLength: 3 }),
});

function conversationOf(exchanges: readonly Exchange[], images: readonly Part[]): Message[] {
  return exchanges.flatMap(({ prompts, reasoning, output, calls, results }, turn): Message[] => {
    const called = calls.map(
      (part, index) => ({ ...part, id: `call_${turn}_${index}` }) as Extract<Part, { type: 'tool-call' }>,
    );
    const answered = called.map(({ id, name }, index): Part => {
      const { text, failed } = results[index] ?? { text: '', failed: false };
      return { type: 'tool-result', callId: id, name, failed, parts: text === '' ? [] : [{ type: 'text', text }] };
    });
    return [
      { role: 'user', parts: [...prompts.map((text): Part => ({ type: 'text', text })), ...images] },
      {
        role: 'assistant',
        parts: [
          ...(reasoning ? [{ type: 'reasoning' as const, ...reasoning }] : []),
          { type: 'text', text: output },
          ...called,
        ],
      },
      ...(answered.length > 0 ? [{ role: 'tool' as const, parts: answered }] : []),
    ];
  });
}

test('a conversation reads back as it was written', () => {
  fc.assert(
    fc.property(
      fc.array(exchange, { minLength: 1, maxLength: 3 }),
      fc.array(media, { maxLength: 2 }),
      nonEmptyText,
      fc.constantFrom(...MODELS),
      (exchanges, images, system, model) => {
        const messages: Message[] = [
          { role: 'system', parts: [{ type: 'text', text: system }] },
          ...conversationOf(exchanges, images),
        ];
        const call = chatCall({
          messages,
          sampling: { temperature: 0.5, topK: 3, stop: ['a'], seed: 7, n: 2 },
          maxOutputTokens: 99,
        });
        const { body, warnings } = gemini.writeCall(call, model, {});
        expect(warnings).toEqual([]);
        const read = readCall(body);
        // Tool results and the next user text are in one content, results first.
        expect(read.messages).toEqual(messages);
        expect(read.sampling).toEqual(call.sampling);
        expect(read.maxOutputTokens).toBe(99);
      },
    ),
  );
});

const anyPart = fc.oneof(
  fc.record(
    { type: fc.constant('text' as const), text: words, signature: fc.oneof(own, foreign), cache: fc.constant({}) },
    { requiredKeys: ['type', 'text'] },
  ),
  fc.record(
    { type: fc.constant('reasoning' as const), text: words, signature: fc.oneof(own, foreign) },
    { requiredKeys: ['type', 'text'] },
  ),
  fc.record({ type: fc.constant('refusal' as const), text: words }),
  fc.record(
    {
      type: fc.constant('tool-call' as const),
      id: fc.constantFrom('a', 'b'),
      name: words,
      input: words,
      custom: fc.constant(true as const),
    },
    { requiredKeys: ['type', 'id', 'name', 'input'] },
  ),
  fc.record({
    type: fc.constant('tool-result' as const),
    callId: fc.constantFrom('a', 'b', 'c'),
    parts: fc.constant([]),
    failed: fc.boolean(),
  }),
  fc.record({ type: fc.constant('native' as const), dialect: fc.constant('openai-chat'), item: fc.constant({ a: 1 }) }),
  media,
) as fc.Arbitrary<Part>;

test('the provider accepts every conversation that is written', () => {
  const turn = (role: Message['role'], ...types: Part['type'][]) =>
    fc.record({
      role: fc.constant(role),
      parts: fc.array(
        anyPart.filter((part) => types.includes(part.type)),
        { maxLength: 4 },
      ),
    });
  const message = fc.oneof(
    turn('system', 'text'),
    turn('user', 'text', 'media', 'native', 'tool-result'),
    turn('assistant', 'text', 'reasoning', 'refusal', 'tool-call', 'native'),
    turn('tool', 'tool-result'),
  );
  fc.assert(
    fc.property(fc.array(message, { maxLength: 6 }), fc.constantFrom(...MODELS), (messages, model) => {
      const { body } = gemini.writeCall(chatCall({ messages }), model, {});
      const { contents } = JSON.parse(new TextDecoder().decode(body)) as {
        contents: { role: string; parts: JsonObject[] }[];
      };
      for (const [index, { role, parts }] of contents.entries()) {
        expect(role).toBe(index % 2 === 0 ? 'user' : 'model');
        expect(parts.length).toBeGreaterThan(0);
        for (const part of parts) expect(part.text === '' && part.thoughtSignature === undefined).toBe(false);
        const calls = parts.filter((part) => part.functionCall !== undefined);
        if (model.includes('3.1') && calls.length > 0) expect(calls[0]?.thoughtSignature).toBeDefined();
        for (const { functionResponse } of parts)
          if (isObject(functionResponse)) expect(functionResponse.name).toBeTruthy();
      }
      readCall(body);
    }),
    { numRuns: 300 },
  );
});

type OutputPart = { opens: PartOpening; content: string; signature?: { dialect: string; value: string } };
const outputPart: fc.Arbitrary<OutputPart> = fc.oneof(
  fc.record({
    opens: fc.constant({ type: 'text' as const }),
    content: nonEmptyText,
    signature: fc.oneof(own, foreign),
  }),
  fc.record({
    opens: fc.constant({ type: 'reasoning' as const }),
    content: nonEmptyText,
    signature: fc.oneof(own, foreign),
  }),
  fc.record(
    {
      opens: name.map((tool) => ({ type: 'tool-call' as const, id: '', name: tool })),
      content: fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), words).map((args) => JSON.stringify(args)),
      signature: fc.oneof(own, foreign),
    },
    { requiredKeys: ['opens', 'content'] },
  ),
  fc.record({
    opens: fc.constant({ type: 'image' as const, mimeType: 'image/png' }),
    content: fc.constantFrom('AAAA', 'AQ=='),
  }),
);

test('a reply reads back as it was written: streamed, as an array and non-streaming', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(outputPart, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 2 }),
      fc.nat(),
      (choices, width) => {
        const events = eventsOf(choices, 1 + (width % 7));
        for (const framing of ['sse', 'json-array', undefined] as const) {
          const call = chatCall({
            stream: framing !== undefined,
            origin: { dialect: 'gemini', body: NO_BYTES, ...(framing && { framing }) },
          });
          const writer = gemini.writer(call);
          const pieces = events.map((event) => writer.write({ bytes: NO_BYTES, events: [event] }));
          const written = new Uint8Array(Buffer.concat([...pieces, writer.keepAlive(), writer.end()]));
          const { model: _, usage, ...read } = replyOf(readReply(written, call, writer.contentType));
          const { model: __, usage: ___, ...meant } = replyOf(events);
          expect(read).toEqual(meant);
          expect([usage?.input, usage?.output, usage?.reasoning]).toEqual([7, 5, 2]);
        }
      },
    ),
    { numRuns: 200 },
  );
});

/** `width`: how much of a part arrives at a time. */
function eventsOf(choices: readonly (readonly OutputPart[])[], width: number): ReplyEvent[] {
  const events: ReplyEvent[] = [{ type: 'reply-start', id: 'r', model: 'm' }];
  for (const [choice, parts] of choices.entries()) {
    let hasCall = false;
    for (const [part, { opens, content, signature }] of parts.entries()) {
      const isCall = opens.type === 'tool-call';
      hasCall ||= isCall;
      events.push({
        type: 'part-start',
        choice,
        part,
        opens: isCall ? { ...opens, id: `call_${choice}_${part}` } : opens,
      });
      for (let at = 0; at < content.length; at += width) {
        events.push({ type: 'part-delta', choice, part, delta: content.slice(at, at + width) });
      }
      if (signature) events.push({ type: 'part-signature', choice, part, signature });
      events.push({ type: 'part-end', choice, part });
    }
    events.push({ type: 'choice-end', choice, finish: { reason: hasCall ? 'tool-calls' : 'stop', raw: 'STOP' } });
  }
  events.push(
    { type: 'usage', usage: { input: 7, output: 5, reasoning: 2, source: 'reported' } },
    { type: 'reply-end' },
  );
  return events;
}
