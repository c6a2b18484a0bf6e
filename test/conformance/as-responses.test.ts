/** Every recorded reply of the chat and messages formats, written for a Responses client, means to it what it meant. */
import { describe, expect, test } from 'bun:test';
import type { ChatCall } from '../../src/canonical/call.ts';
import type { FinishReason, Reply, ReplyEvent, ReplyPart } from '../../src/canonical/reply.ts';
import { anthropicMessages } from '../../src/dialects/anthropic-messages/anthropic-messages.ts';
import { openaiChat } from '../../src/dialects/openai-chat/openai-chat.ts';
import { openaiResponses } from '../../src/dialects/openai-responses/openai-responses.ts';
import { chatCall } from '../chat-call.ts';
import { recordedCases, replyBytes, replyContentType } from '../fixtures.ts';
import { replyOf } from './dialect-laws.ts';

const NO_BYTES = new Uint8Array(0);

for (const source of [openaiChat, anthropicMessages]) {
  const cases = recordedCases(source.name).filter((recorded) => recorded.status === 200);

  describe.skipIf(cases.length === 0)(`${cases.length} recorded replies of ${source.name} as responses`, () => {
    test.each(cases.map((recorded) => [recorded.file, recorded] as const))('%s', (_, recorded) => {
      const call = chatCall({ stream: recorded.stream });
      const reader = source.reader(call, replyContentType(recorded), {});
      const events = [...reader.read(replyBytes(recorded)), ...reader.end()].flatMap((frame) => frame.events);
      if (events.at(-1)?.type === 'error') return;
      const original = view(replyOf(events));
      for (const stream of [true, false]) {
        const again = rewritten(events, { ...call, stream });
        expect(view(replyOf(again))).toEqual(original);
        expect(again.at(-1)?.type).toBe('reply-end');
      }
    });
  });
}

function rewritten(events: readonly ReplyEvent[], call: ChatCall): ReplyEvent[] {
  const writer = openaiResponses.writer(call);
  const pieces = events.map((event) => writer.write({ bytes: NO_BYTES, events: [event] }));
  const reader = openaiResponses.reader(call, writer.contentType, {});
  const bytes = new Uint8Array(Buffer.concat([...pieces, writer.end()]));
  return [...reader.read(bytes), ...reader.end()].flatMap((frame) => frame.events);
}

const FINISHES: { readonly [reason in FinishReason]?: FinishReason } = {
  refusal: 'content-filter',
  'stop-sequence': 'stop',
  other: 'stop',
  pause: 'other',
};

function view(reply: Reply) {
  const [choice] = reply.choices;
  const parts = choice?.parts ?? [];
  const reason = FINISHES[choice?.finish?.reason ?? 'stop'] ?? choice?.finish?.reason;
  const hasCalls = parts.some(({ opens }) => opens.type === 'tool-call');
  const said = (...types: string[]) =>
    parts
      .filter(({ opens }) => types.includes(opens.type))
      .map(wordsOf)
      .join('');
  return {
    text: said('text', 'audio'),
    reasoning: said('reasoning'),
    refusal: said('refusal') || (choice?.finish?.explanation ?? ''),
    images: said('image'),
    calls: parts.flatMap(({ opens, content }) => (opens.type === 'tool-call' ? [{ ...opens, content }] : [])),
    seals: parts.flatMap((part) => part.seal ?? []),
    citations: parts.flatMap((part) => part.citations ?? []).flatMap(({ url }) => url ?? []),
    logprobs: parts.flatMap((part) => part.logprobs ?? []).length,
    finish: hasCalls && reason === 'stop' ? 'tool-calls' : reason,
    usage: reply.usage && {
      input: reply.usage.input,
      output: reply.usage.output,
      cached: reply.usage.cachedInput ?? 0,
      written: (reply.usage.cacheWrite ?? 0) + (reply.usage.cacheWriteHour ?? 0),
      reasoning: reply.usage.reasoning ?? 0,
    },
  };
}

function wordsOf({ opens, content, transcript }: ReplyPart): string {
  return opens.type === 'audio' ? (transcript ?? '') : content;
}
