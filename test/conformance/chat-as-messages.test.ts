/** Every recorded chat completion, written for a client of the messages format, means to it what it meant. */
import { describe, expect, test } from 'bun:test';
import type { ChatCall } from '../../src/canonical/call.ts';
import type { FinishReason, Reply, ReplyEvent, ReplyPart } from '../../src/canonical/reply.ts';
import { anthropicMessages } from '../../src/dialects/anthropic-messages/anthropic-messages.ts';
import { legalToolId } from '../../src/dialects/anthropic-messages/legal-names.ts';
import { openaiChat } from '../../src/dialects/openai-chat/openai-chat.ts';
import { chatCall } from '../chat-call.ts';
import { recordedCases, replyBytes, replyContentType } from '../fixtures.ts';
import { replyOf } from './dialect-laws.ts';

const NO_BYTES = new Uint8Array(0);
// With thinking asked for, proofs of text are carried too.
const asked = chatCall({ reasoning: { adaptive: true } });

const cases = recordedCases(openaiChat.name).filter((recorded) => recorded.status === 200);

describe.skipIf(cases.length === 0)(`${cases.length} recorded chat completions as messages`, () => {
  test.each(cases.map((recorded) => [recorded.file, recorded] as const))('%s', (_, recorded) => {
    const call = { ...asked, stream: recorded.stream };
    const reader = openaiChat.reader(call, replyContentType(recorded), {});
    const events = [...reader.read(replyBytes(recorded)), ...reader.end()].flatMap((frame) => frame.events);
    if (events.at(-1)?.type === 'error') return;
    const original = replyOf(events);
    for (const stream of [true, false]) {
      // Arguments that broke off cannot be an object.
      if (!stream && callsOf(original).some(({ input }) => input === BROKEN)) continue;
      const again = rewritten(events, { ...call, stream });
      const { usage, ...meant } = view(original);
      expect(view(replyOf(again))).toEqual({ ...meant, usage: expect.anything() });
      // Where the vendor reported none, ours is an estimate.
      if (usage) expect(view(replyOf(again)).usage).toEqual(usage);
      expect(again.at(-1)?.type).toBe('reply-end');
    }
  });
});

function rewritten(events: readonly ReplyEvent[], call: ChatCall): ReplyEvent[] {
  const writer = anthropicMessages.writer(call);
  const pieces = events.map((event) => writer.write({ bytes: NO_BYTES, events: [event] }));
  const reader = anthropicMessages.reader(call, writer.contentType, {});
  const bytes = new Uint8Array(Buffer.concat([...pieces, writer.end()]));
  return [...reader.read(bytes), ...reader.end()].flatMap((frame) => frame.events);
}

const FINISHES: { readonly [reason in FinishReason]?: FinishReason } = {
  'content-filter': 'refusal',
  other: 'stop',
  'broken-call': 'stop',
};

function view(reply: Reply) {
  const [choice] = reply.choices;
  const parts = choice?.parts ?? [];
  const reason = choice?.finish?.reason ?? 'stop';
  const calls = callsOf(reply);
  const said = (...types: string[]) =>
    parts
      .filter(({ opens }) => types.includes(opens.type))
      .map(wordsOf)
      .join('');
  return {
    text: said('text', 'refusal', 'image', 'audio'),
    reasoning: said('reasoning'),
    calls,
    seals: parts.flatMap((part) => part.seal ?? []),
    citations: parts.flatMap((part) => part.citations ?? []).flatMap(({ url }) => url ?? []),
    finish: calls.length > 0 && (reason === 'stop' || reason === 'other') ? 'tool-calls' : (FINISHES[reason] ?? reason),
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
  if (opens.type === 'audio') return transcript ?? '';
  return opens.type === 'image' ? `![image](data:${opens.mimeType};base64,${content})` : content;
}

const BROKEN = 'broken';

function callsOf(reply: Reply) {
  return (reply.choices[0]?.parts ?? []).flatMap(({ opens, content }) =>
    opens.type === 'tool-call'
      ? [{ id: legalToolId(opens.id), name: opens.name, input: inputOf(content, opens.custom === true) }]
      : [],
  );
}

/** Free text is one member of an input here. */
function inputOf(content: string, custom: boolean): unknown {
  if (custom) return { input: content };
  try {
    return JSON.parse(content === '' ? '{}' : content);
  } catch {
    return BROKEN;
  }
}
