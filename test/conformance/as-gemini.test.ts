/** Every recorded chat completion and message, written for a client of generateContent, means to it what it meant; so do their requests. */
import { describe, expect, test } from 'bun:test';
import type { ChatCall, Part } from '../../src/canonical/call.ts';
import { GatewayError } from '../../src/canonical/errors.ts';
import type { FinishReason, Reply, ReplyEvent, ReplyPart } from '../../src/canonical/reply.ts';
import { anthropicMessages } from '../../src/dialects/anthropic-messages/anthropic-messages.ts';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { gemini } from '../../src/dialects/gemini/gemini.ts';
import { openaiChat } from '../../src/dialects/openai-chat/openai-chat.ts';
import { chatCall } from '../chat-call.ts';
import { type RecordedCase, recordedCases, replyBytes, replyContentType, requestBytes } from '../fixtures.ts';
import { replyOf } from './dialect-laws.ts';

const NO_BYTES = new Uint8Array(0);
const SOURCES: readonly Dialect<ChatCall>[] = [openaiChat, anthropicMessages];

for (const source of SOURCES) {
  const recordings = recordedCases(source.name).filter((recorded) => recorded.status === 200);
  const replies = recordings.map((recorded) => [recorded.file, recorded] as const);
  const requests = replies.filter(([, recorded]) => requestBytes(recorded) !== undefined);

  describe.skipIf(replies.length === 0)(`${replies.length} recordings of ${source.name}`, () => {
    test.each(replies)('the reply: %s', (_, recorded) => {
      const call = chatCall({ stream: recorded.stream });
      const events = eventsOf(source, call, replyContentType(recorded), replyBytes(recorded));
      if (events.at(-1)?.type === 'error') return;
      for (const stream of [true, false]) {
        const again = rewritten(events, chatCall({ stream }));
        expect(view(replyOf(again))).toEqual(view(replyOf(events)));
        expect(again.at(-1)?.type).toBe('reply-end');
      }
    });

    test.each(requests)('the request: %s', (_, recorded) => {
      const original = callOf(source, recorded);
      let written: ReturnType<typeof gemini.writeCall>;
      try {
        written = gemini.writeCall(original, 'gemini-3.1-pro', {});
      } catch (thrown) {
        // What only its own vendor can fetch is refused, and named.
        if (!(thrown instanceof GatewayError) || thrown.param === undefined) throw thrown;
        return;
      }
      const path = { model: original.model, action: 'generateContent' };
      const read = gemini.readCall({ body: written.body, headers: new Headers(), path, query: new URLSearchParams() });
      expect(asked(read)).toEqual(asked(original));
    });
  });
}

function callOf(source: Dialect<ChatCall>, recorded: RecordedCase): ChatCall {
  const headers = new Headers({ 'anthropic-version': '2023-06-01' });
  const body = requestBytes(recorded) ?? NO_BYTES;
  return source.readCall({ body, headers, path: {}, query: new URLSearchParams() });
}

function eventsOf(dialect: Dialect, call: ChatCall, contentType: string, bytes: Uint8Array): ReplyEvent[] {
  const reader = dialect.reader(call, contentType, {});
  return [...reader.read(bytes), ...reader.end()].flatMap((frame) => frame.events);
}

function rewritten(events: readonly ReplyEvent[], call: ChatCall): ReplyEvent[] {
  const writer = gemini.writer(call);
  const pieces = events.map((event) => writer.write({ bytes: NO_BYTES, events: [event] }));
  return eventsOf(gemini, call, writer.contentType, new Uint8Array(Buffer.concat([...pieces, writer.end()])));
}

/** Read back without a call in the reply. */
const FINISHES: { readonly [reason in FinishReason]?: FinishReason } = {
  'tool-calls': 'stop',
  'stop-sequence': 'stop',
  refusal: 'content-filter',
  pause: 'stop',
};

function view(reply: Reply) {
  return {
    choices: reply.choices.map(({ parts, finish }) => {
      const reason = finish?.reason ?? 'stop';
      const brokeOff = reason === 'length';
      const calls = parts.flatMap((part) => callIn(part, brokeOff));
      const isCalling = calls.length > 0 && ['stop', 'other', 'tool-calls'].includes(reason);
      return {
        text: said(parts, 'text', 'refusal'),
        reasoning: said(parts, 'reasoning'),
        calls,
        seals: parts.flatMap((part) => part.seal ?? []),
        citations: parts.flatMap((part) => part.citations ?? []).flatMap(({ url }) => url ?? []),
        finish: isCalling ? 'tool-calls' : (FINISHES[reason] ?? reason),
      };
    }),
    usage: reply.usage && {
      input: reply.usage.input,
      output: reply.usage.output,
      cached: reply.usage.cachedInput ?? 0,
      reasoning: reply.usage.reasoning ?? 0,
    },
  };
}

function said(parts: readonly ReplyPart[], ...types: string[]): string {
  const words = parts.filter(({ opens }) => types.includes(opens.type));
  return words.map(({ content }) => content).join('');
}

/** Arguments that broke off with the reply are no call; others that are no JSON are one member of an object. */
function callIn({ opens, content }: ReplyPart, brokeOff: boolean) {
  if (opens.type !== 'tool-call') return [];
  const input = opens.custom ? { input: content } : jsonOf(content === '' ? '{}' : content);
  if (input === undefined && brokeOff) return [];
  return [{ id: opens.id, name: opens.name, input: input ?? { input: content } }];
}

/** What a request asks, in the order in which it asks it; how its words are cut into parts does not count. */
function asked(call: ChatCall) {
  return {
    said: call.messages
      .flatMap(({ parts }) => parts.map(words))
      .join('')
      .replace(/<\/?system>|\s/g, ''),
    tools: call.tools.flatMap((tool) => (tool.type === 'function' || tool.type === 'custom' ? [tool.name] : [])),
    ceiling: call.maxOutputTokens,
    temperature: call.sampling.temperature,
  };
}

/** A thought is another vendor's own, and so are its blocks. */
function words(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text;
    case 'tool-call': {
      const input = part.custom ? { input: part.input } : jsonOf(part.input || '{}');
      return `${part.id} ${part.name} ${JSON.stringify(input ?? { input: part.input })}`;
    }
    case 'tool-result':
      return `${part.callId} ${part.parts.map(words).join('')}`;
    case 'media': {
      const { kind, source, title, name, context } = part.media;
      return source.type === 'text' ? `${title ?? name ?? ''}${context ?? ''}${source.text}` : kind;
    }
    default:
      return '';
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
