/** Properties of every call, reply and byte sequence, beyond the recordings. */
import { expect, test } from 'bun:test';
import { replyOf } from '../../../../test/conformance/dialect-laws.ts';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { fc } from '../../../../test/helpers/property.ts';
import type { ChatCall, Message, Part } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import { boundedReader } from '../../shared/bounded-reader.ts';
import { openaiResponses } from './openai-responses.ts';

const OWN = openaiResponses.name;
const NO_BYTES = new Uint8Array(0);
const encoder = new TextEncoder();

function readCall(body: Uint8Array): ChatCall {
  return openaiResponses.readCall({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });
}

function readReply(bytes: Uint8Array, stream: boolean): ReplyEvent[] {
  const type = stream ? 'text/event-stream' : 'application/json';
  const reader = boundedReader(openaiResponses.reader(chatCall({ stream }), type, {}), chatCall({ stream }), {
    skippedEvents: 0,
  });
  return [...reader.read(bytes), ...reader.end()].flatMap((frame) => frame.events);
}

function expectOneEnd(events: readonly ReplyEvent[]): void {
  expect(events.filter((event) => event.type === 'reply-end' || event.type === 'error').length).toBe(1);
}

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const anything = fc.jsonValue({ maxDepth: 2 });
const chatSignature = fc.record({ dialect: fc.constant(OWN), value: fc.string({ minLength: 1, maxLength: 5 }) });

test('the reader accepts any bytes without crashing', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, stream) => {
      expectOneEnd(readReply(bytes, stream));
    }),
  );
});

const types = [
  'message',
  'reasoning',
  'function_call',
  'custom_tool_call',
  'image_generation_call',
  'web_search_call',
  'item_reference',
  'function_call_output',
];
const strangeItem = fc.record(
  {
    type: fc.oneof(fc.constantFrom(...types), anything),
    id: anything,
    role: fc.oneof(fc.constantFrom('user', 'assistant', 'system'), anything),
    call_id: fc.oneof(words, anything),
    name: fc.oneof(words, anything),
    arguments: anything,
    input: anything,
    output: anything,
    result: anything,
    phase: anything,
    encrypted_content: anything,
    summary: fc.oneof(anything, fc.array(fc.record({ text: anything }))),
    content: fc.oneof(
      anything,
      fc.array(
        fc.record({
          type: fc.constantFrom('output_text', 'refusal', 'input_image', 'input_file', 'input_text', 'x'),
          text: anything,
          refusal: anything,
          image_url: anything,
          annotations: fc.oneof(anything, fc.array(anything)),
          logprobs: anything,
        }),
      ),
    ),
  },
  { requiredKeys: [] },
);
const strangeResponse = fc.record(
  {
    id: anything,
    model: anything,
    status: fc.oneof(fc.constantFrom('completed', 'incomplete', 'failed'), anything),
    output: fc.oneof(fc.array(fc.oneof(strangeItem, anything)), anything),
    usage: anything,
    error: anything,
    incomplete_details: anything,
  },
  { requiredKeys: [] },
);
const strangeEvent = fc.record(
  {
    type: fc.constantFrom(
      'response.created',
      'response.output_item.added',
      'response.output_item.done',
      'response.output_text.delta',
      'response.refusal.delta',
      'response.output_text.annotation.added',
      'response.reasoning_text.delta',
      'response.reasoning_summary_text.delta',
      'response.function_call_arguments.delta',
      'response.custom_tool_call_input.delta',
      'response.completed',
      'response.failed',
      'error',
      'x',
    ),
    output_index: fc.oneof(fc.nat(2), anything),
    content_index: fc.oneof(fc.nat(2), anything),
    summary_index: fc.nat(2),
    item_id: anything,
    delta: fc.oneof(words, anything),
    logprobs: anything,
    annotation: anything,
    item: fc.oneof(strangeItem, anything),
    response: fc.oneof(strangeResponse, anything),
    error: anything,
  },
  { requiredKeys: ['type'] },
);

test('the reader accepts any events without crashing, and every part opens before it grows', () => {
  fc.assert(
    fc.property(fc.array(strangeEvent, { maxLength: 12 }), (payloads) => {
      const text = payloads.map((payload) => `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`).join('');
      const events = readReply(encoder.encode(text), true);
      expectOneEnd(events);
      let opened = 0;
      for (const event of events) {
        if (event.type === 'part-start') expect(event.part).toBe(opened++);
        else if ('part' in event) expect(event.part).toBeLessThan(opened);
      }
    }),
    { numRuns: 500 },
  );
});

test('reading a call accepts any body without crashing', () => {
  const body = fc.record(
    {
      model: fc.oneof(fc.constant('m'), anything),
      input: fc.oneof(fc.array(fc.oneof(strangeItem, anything)), anything),
      tools: fc.oneof(fc.array(anything), anything),
      tool_choice: anything,
      text: anything,
      reasoning: anything,
    },
    { requiredKeys: ['model'] },
  );
  fc.assert(
    fc.property(body, (members) => {
      try {
        readCall(encoder.encode(JSON.stringify(members)));
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(GatewayError);
        expect((thrown as GatewayError).code).toBe('invalid_request');
      }
    }),
    { numRuns: 500 },
  );
});

const media: fc.Arbitrary<Part> = fc.constantFrom(
  { type: 'media', media: { kind: 'image', source: { type: 'url', url: 'https://a.example/b.png' }, detail: 'high' } },
  { type: 'media', media: { kind: 'image', source: { type: 'inline', base64: 'AAAA' }, mimeType: 'image/png' } },
  {
    type: 'media',
    media: { kind: 'document', source: { type: 'inline', base64: 'AAAA' }, mimeType: 'application/pdf', name: 'a.pdf' },
  },
  { type: 'media', media: { kind: 'audio', source: { type: 'inline', base64: 'AAAA' }, mimeType: 'audio/mpeg' } },
);
const text: fc.Arbitrary<Part> = words.map((value) => ({ type: 'text', text: value }));
const call: fc.Arbitrary<Part> = fc
  .record({
    id: fc.stringMatching(/^[a-z0-9]{1,12}$/),
    name: fc.stringMatching(/^[a-z_]{1,12}$/),
    custom: fc.boolean(),
    input: words,
  })
  .map(({ custom, input, ...named }) => ({
    type: 'tool-call',
    ...named,
    input: custom ? input : JSON.stringify({ input }),
    ...(custom && { custom }),
  }));
const thought: fc.Arbitrary<Part> = fc
  .record({ text: words, signature: chatSignature })
  .map((members) => ({ type: 'reasoning', ...members, summary: true }));
const result: fc.Arbitrary<Part> = fc
  .record({
    callId: fc.stringMatching(/^[a-z0-9]{1,12}$/),
    parts: fc.array(fc.oneof(text, media), { minLength: 1, maxLength: 3 }),
  })
  .map((members) => ({ type: 'tool-result', failed: false, ...members }));
const filled = (part: fc.Arbitrary<Part>) => fc.array(part, { minLength: 1, maxLength: 4 });
const message: fc.Arbitrary<Message> = fc.oneof(
  filled(fc.oneof(text, media)).map((parts) => ({ role: 'user' as const, parts })),
  filled(fc.oneof(text, call, thought)).map((parts) => ({ role: 'assistant' as const, parts })),
  result.map((part) => ({ role: 'tool' as const, parts: [part] })),
);

/** Adjacent turns of the model are one. */
function joined(messages: readonly Message[]): Message[] {
  const turns: Message[] = [];
  for (const { role, parts } of messages) {
    const last = turns.at(-1);
    if (role === 'assistant' && last?.role === role) last.parts = [...last.parts, ...parts];
    else turns.push({ role, parts });
  }
  return turns;
}

test('any conversation reads back as it was written, from every format', () => {
  fc.assert(
    fc.property(
      fc.array(message, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(OWN, 'another'),
      (messages, dialect) => {
        const call = chatCall({ messages, origin: { dialect, body: NO_BYTES } });
        const { body, warnings } = openaiResponses.writeCall(call, 'gpt-5', {});
        expect(warnings).toEqual([]);
        expect(readCall(body).messages).toEqual(joined(messages));
      },
    ),
  );
});

const replyPart = fc.oneof(
  fc.record({ opens: fc.constant({ type: 'text' as const }), content: words }),
  fc.record({ opens: fc.constant({ type: 'refusal' as const }), content: words }),
  fc.record({ opens: fc.constant({ type: 'reasoning' as const, summary: true }), content: words }),
  fc.record({ opens: fc.constant({ type: 'tool-call' as const, id: 'call_1', name: 'look' }), content: words }),
);

test('any reply reads back as it was written, streaming or not, with its parts in sequence or interleaved', () => {
  fc.assert(
    fc.property(
      fc.array(replyPart, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      fc.boolean(),
      (parts, stream, woven) => {
        const opened = parts.map(({ opens }, part): ReplyEvent => ({ type: 'part-start', choice: 0, part, opens }));
        const grown = parts.map(
          ({ content }, part): ReplyEvent => ({ type: 'part-delta', choice: 0, part, delta: content }),
        );
        const ended = parts.map((_, part): ReplyEvent => ({ type: 'part-end', choice: 0, part }));
        const steps = [opened, grown, ended];
        const events = woven ? steps.flat() : parts.flatMap((_, part) => steps.flatMap((step) => step[part] ?? []));
        const writer = openaiResponses.writer(chatCall({ stream }));
        const start: ReplyEvent = { type: 'reply-start', id: 'r', model: 'm' };
        const bytes = Buffer.concat([writer.write({ bytes: NO_BYTES, events: [start, ...events] }), writer.end()]);
        const again = replyOf(readReply(bytes, stream)).choices[0]?.parts ?? [];
        for (const type of ['text', 'refusal', 'reasoning', 'tool-call']) {
          const of = (list: readonly { opens: { type: string }; content: string }[]) =>
            list.filter(({ opens }) => opens.type === type).map(({ content }) => content);
          expect(of(again)).toEqual(of(parts));
        }
      },
    ),
  );
});
