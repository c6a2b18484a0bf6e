/** Properties of every conversation and byte sequence, beyond the recordings. */
import { expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { expectCallOrError, expectOneEnd } from '../../../../test/helpers/dialect-properties.ts';
import { fc } from '../../../../test/helpers/property.ts';
import type { ChatCall, Message, Part, Tool } from '../../../canonical/call.ts';
import { openaiChat } from './openai-chat.ts';

function readCall(body: Uint8Array): ChatCall {
  return openaiChat.readCall({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });
}

const nonEmptyText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const textPart = nonEmptyText.map((text): Part => ({ type: 'text', text }));
const userPart = fc.oneof(
  textPart,
  fc.constantFrom<Part>(
    { type: 'media', media: { kind: 'image', mimeType: 'image/png', source: { type: 'inline', base64: 'iVBORw0K' } } },
    { type: 'media', media: { kind: 'image', source: { type: 'url', url: 'https://example.com/a.png' } } },
    { type: 'media', media: { kind: 'audio', mimeType: 'audio/wav', source: { type: 'inline', base64: 'UklGRg==' } } },
    {
      type: 'media',
      media: {
        kind: 'document',
        mimeType: 'application/pdf',
        name: 'a.pdf',
        source: { type: 'inline', base64: 'JVBERi0=' },
      },
    },
  ),
);
const name = fc.constantFrom('f', 'get_weather', 'a-b');
const made = fc.oneof(
  fc.record({
    type: fc.constant('tool-call' as const),
    name,
    input: fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), nonEmptyText).map((args) => JSON.stringify(args)),
  }),
  fc.record({ type: fc.constant('tool-call' as const), name, input: nonEmptyText, custom: fc.constant(true as const) }),
);
const exchange = fc.record({
  prompts: fc.array(userPart, { minLength: 1, maxLength: 3 }),
  output: nonEmptyText,
  calls: fc.array(made, { maxLength: 3 }),
  results: fc.array(nonEmptyText, { minLength: 3, maxLength: 3 }),
});

function conversationOf(exchanges: readonly (typeof exchange extends fc.Arbitrary<infer One> ? One : never)[]) {
  return exchanges.flatMap(({ prompts, output, calls, results }, turn): Message[] => {
    const called = calls.map((call, index) => ({ ...call, id: `call_${turn}_${index}` }));
    return [
      { role: 'user', parts: prompts },
      { role: 'assistant', parts: [{ type: 'text', text: output }, ...called] },
      ...called.map(
        ({ id }, index): Message => ({
          role: 'tool',
          parts: [
            { type: 'tool-result', callId: id, failed: false, parts: [{ type: 'text', text: results[index] ?? '' }] },
          ],
        }),
      ),
    ];
  });
}

const TOOLS: Tool[] = [
  { type: 'function', name: 'f', description: 'does', parameters: { type: 'object', properties: {} } },
];

test('a conversation reads back as it was written', () => {
  fc.assert(
    fc.property(fc.array(exchange, { minLength: 1, maxLength: 3 }), nonEmptyText, (exchanges, system) => {
      const messages: Message[] = [
        { role: 'system', parts: [{ type: 'text', text: system }] },
        ...conversationOf(exchanges),
      ];
      const call = chatCall({
        messages,
        tools: TOOLS,
        sampling: { temperature: 0.5, topP: 0.25, stop: ['a'], seed: 7, n: 2, logitBias: { '5': -1 } },
        maxOutputTokens: 99,
      });
      const { body, warnings } = openaiChat.writeCall(call, 'gpt-4o', {});
      expect(warnings).toEqual([]);
      const read = readCall(body);
      expect(read.messages).toEqual(messages);
      expect(read.tools).toEqual(call.tools);
      expect(read.sampling).toEqual(call.sampling);
      expect(read.maxOutputTokens).toBe(99);
      // A second conversion loses nothing more.
      expect(openaiChat.writeCall({ ...read, stream: call.stream }, 'gpt-4o', {}).body).toEqual(body);
    }),
  );
});

const anything = fc.jsonValue({ maxDepth: 3 });
const strangeMessage = fc.record(
  {
    role: fc.oneof(fc.constantFrom('user', 'assistant', 'system', 'developer', 'tool', 'function'), anything),
    content: fc.oneof(
      nonEmptyText,
      fc.array(fc.record({ type: fc.constantFrom('text', 'image_url'), text: anything })),
      anything,
    ),
    tool_calls: fc.oneof(fc.array(fc.record({ id: anything, type: anything, function: anything })), anything),
    tool_call_id: anything,
    name: anything,
    refusal: anything,
    reasoning_content: anything,
    reasoning_details: anything,
  },
  { requiredKeys: ['role'] },
);

test('every client request is a call that can be written, or causes an error with the reason', () => {
  fc.assert(
    fc.property(
      fc.array(strangeMessage, { maxLength: 4 }),
      fc.dictionary(
        fc.constantFrom('tools', 'tool_choice', 'stop', 'response_format', 'stream_options', 'modalities', 'audio'),
        anything,
      ),
      (messages, members) => {
        expectCallOrError(openaiChat, { model: 'm', messages, ...members });
      },
    ),
    { numRuns: 500 },
  );
});

test('no bytes crash the reader, and every reply has one end', () => expectOneEnd(openaiChat));
