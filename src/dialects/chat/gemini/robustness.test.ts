/** No bytes crash a reader, and no body crashes the reading of a call. */
import { expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { cutBytes } from '../../../../test/helpers/fixtures.ts';
import { fc } from '../../../../test/helpers/property.ts';
import type { ChatCall } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import { boundedReader } from '../../shared/bounded-reader.ts';
import { gemini } from './gemini.ts';

const encoder = new TextEncoder();

function readCall(body: Uint8Array): ChatCall {
  const path = { model: 'm', action: 'generateContent' };
  return gemini.readCall({ body, headers: new Headers(), path, query: new URLSearchParams() });
}

function readReply(bytes: Uint8Array, call: ChatCall, contentType: string): ReplyEvent[] {
  const reader = boundedReader(gemini.reader(call, contentType, {}), call, { skippedEvents: 0 });
  return [...reader.read(bytes), ...reader.end()].flatMap((frame) => frame.events);
}

function expectOrder(events: readonly ReplyEvent[]): void {
  expect(events.filter((event) => event.type === 'reply-end' || event.type === 'error').length).toBe(1);
  const open = new Set<string>();
  for (const event of events) {
    if (!('part' in event)) continue;
    const part = `${event.choice}/${event.part}`;
    if (event.type === 'part-start') open.add(part);
    else if (event.type === 'part-end') expect(open.delete(part)).toBe(true);
    else if (event.type === 'part-delta') expect(open.has(part)).toBe(true);
  }
  expect(events.at(-1)?.type === 'error' ? 0 : open.size).toBe(0);
}

const anything = fc.jsonValue({ maxDepth: 2 });

test('the reader accepts any bytes without crashing', () => {
  const contentType = fc.constantFrom('text/event-stream', 'application/json');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), contentType, (bytes, stream, type) => {
      expectOrder(readReply(bytes, chatCall({ stream }), type));
    }),
  );
});

const strangePart = fc.oneof(
  anything,
  fc.record(
    {
      text: anything,
      thought: anything,
      thoughtSignature: anything,
      inlineData: fc.oneof(
        anything,
        fc.record({ mimeType: fc.constantFrom('image/png', 'audio/L16', 'x'), data: anything }),
      ),
      functionCall: fc.oneof(
        anything,
        fc.record(
          {
            name: fc.constantFrom('', 'patch', 'f'),
            id: anything,
            args: anything,
            willContinue: fc.boolean(),
            partialArgs: fc.array(
              fc.record({ jsonPath: fc.constantFrom('$.a', '$.a[0].b', '$.__proto__', '$', 5), stringValue: anything }),
            ),
          },
          { requiredKeys: [] },
        ),
      ),
    },
    { requiredKeys: [] },
  ),
);
const strangeAnswer = fc.record(
  {
    responseId: anything,
    modelVersion: anything,
    createTime: anything,
    usageMetadata: fc.oneof(
      anything,
      fc.record({ promptTokenCount: anything, promptTokensDetails: fc.array(anything) }),
    ),
    promptFeedback: fc.oneof(anything, fc.record({ blockReason: anything })),
    candidates: fc.oneof(
      anything,
      fc.array(
        fc.oneof(
          anything,
          fc.record(
            {
              index: anything,
              content: fc.oneof(anything, fc.record({ parts: fc.oneof(anything, fc.array(strangePart)) })),
              finishReason: fc.oneof(anything, fc.constantFrom('STOP', 'SAFETY')),
              finishMessage: anything,
              logprobsResult: fc.oneof(
                anything,
                fc.record({ chosenCandidates: fc.array(anything), topCandidates: fc.array(anything) }),
              ),
              groundingMetadata: fc.oneof(
                anything,
                fc.record({ groundingChunks: fc.array(anything), groundingSupports: fc.array(anything) }),
              ),
              citationMetadata: anything,
            },
            { requiredKeys: [] },
          ),
        ),
      ),
    ),
  },
  { requiredKeys: [] },
);

test('the reader accepts any replies without crashing, and chunk boundaries do not matter', () => {
  const tools = [{ type: 'custom' as const, name: 'patch' }];
  fc.assert(
    fc.property(fc.array(strangeAnswer, { minLength: 1, maxLength: 6 }), fc.nat(50), (answers, seed) => {
      const sse = encoder.encode(answers.map((answer) => `data: ${JSON.stringify(answer)}\r\n\r\n`).join(''));
      const array = encoder.encode(JSON.stringify(answers));
      for (const [bytes, type] of [
        [sse, 'text/event-stream'],
        [array, 'application/json'],
      ] as const) {
        const events = readReply(bytes, chatCall({ tools }), type);
        expectOrder(events);
        const reader = gemini.reader(chatCall({ tools }), type, {});
        const cut = [...cutBytes(bytes, seed).flatMap((chunk) => reader.read(chunk)), ...reader.end()];
        expect(cut.flatMap((frame) => frame.events)).toEqual(events);
        expect(new Uint8Array(Buffer.concat(cut.map((frame) => frame.bytes)))).toEqual(bytes);
      }
      expectOrder(
        readReply(encoder.encode(JSON.stringify(answers[0])), chatCall({ stream: false, tools }), 'application/json'),
      );
    }),
    { numRuns: 300 },
  );
});

test('reading a call accepts any body without crashing', () => {
  const content = fc.oneof(
    anything,
    fc.record(
      { role: fc.oneof(fc.constantFrom('user', 'model'), anything), parts: fc.oneof(fc.array(strangePart), anything) },
      { requiredKeys: [] },
    ),
  );
  const body = fc.record(
    {
      contents: fc.oneof(anything, fc.array(content)),
      system_instruction: fc.oneof(anything, content),
      tools: fc.oneof(
        anything,
        fc.array(
          fc.record({
            functionDeclarations: fc.array(fc.oneof(anything, fc.record({ name: fc.string(), parameters: anything }))),
          }),
        ),
      ),
      toolConfig: fc.oneof(anything, fc.record({ functionCallingConfig: anything })),
      generationConfig: fc.oneof(
        anything,
        fc.dictionary(
          fc.constantFrom(
            'temperature',
            'stopSequences',
            'thinkingConfig',
            'speechConfig',
            'responseSchema',
            'responseModalities',
            'imageConfig',
          ),
          anything,
        ),
      ),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(body, anything), (value) => {
      try {
        readCall(encoder.encode(JSON.stringify(value)));
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown;
        expect(['invalid_request', 'file_reference_unsupported']).toContain(thrown.code);
        expect(thrown.message).not.toContain('undefined');
      }
    }),
    { numRuns: 1000 },
  );
});
