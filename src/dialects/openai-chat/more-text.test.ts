/** Chunks that are recognised by the one before mean what they would mean if each were parsed. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { cutBytes, hasFixtures, recordedCases, replyBytes, replyContentType } from '../../../test/fixtures.ts';
import type { ChatCall } from '../../canonical/call.ts';
import type { JsonObject } from '../../canonical/json.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import { SseCutter } from '../sse.ts';
import { Decoder } from './decode.ts';
import { openaiChat } from './openai-chat.ts';
import { Repair } from './repair.ts';

const call: ChatCall = {
  kind: 'chat',
  model: 'public-model',
  origin: { dialect: openaiChat.name, body: new Uint8Array() },
  extras: {},
  headers: {},
  stream: true,
  messages: [],
  tools: [],
  sampling: {},
  wantsUsage: true,
};

/** What the reader makes of the stream, up to its end. */
function read(bytes: Uint8Array): ReplyEvent[] {
  const reader = openaiChat.reader(call, 'text/event-stream', {});
  const frames = [...cutBytes(bytes, 7).flatMap((piece) => reader.read(piece)), ...reader.end()];
  return frames.flatMap(({ events }) => events).filter(({ type }) => type !== 'reply-end');
}

/** Each chunk by itself; `undefined` where the stream holds what is no chunk. */
function parsed(bytes: Uint8Array): ReplyEvent[] | undefined {
  const repair = new Repair({});
  const decoder = new Decoder(call, {});
  const events: ReplyEvent[] = [];
  const cutter = new SseCutter();
  for (const { data } of [...cutter.read(bytes), ...cutter.end()]) {
    if (data === undefined) continue;
    if (data.trim() === '[DONE]') break;
    const chunk = data.startsWith('{') ? (JSON.parse(data) as JsonObject) : {};
    if (!chunk.choices || chunk.error) return undefined;
    repair.chunk(chunk);
    events.push(...decoder.read(chunk));
  }
  decoder.finishAll(events);
  return events;
}

const stream = (chunks: readonly string[]) => Buffer.from(chunks.map((chunk) => `data: ${chunk}\n\n`).join(''));

const chunkOf = (member: string, text: string, more = '') =>
  `{"id":"a","model":"m","choices":[{"index":0,"delta":{"${member}":${JSON.stringify(text)}}${more}}]}`;

describe('a chunk like the one before', () => {
  const texts = fc.array(
    fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('a', '"', '\\', '\n', 'a","b":"', '"}}]}', 'content', 'm', ''),
    ),
  );
  test('any texts, in any members, with anything between them', () => {
    const members = fc.constantFrom('content', 'reasoning_content', 'refusal');
    const mores = fc.constantFrom('', '', '', ',"finish_reason":null', ',"logprobs":{"content":[{"token":"a"}]}');
    fc.assert(
      fc.property(members, texts, members, texts, mores, (first, texts1, second, texts2, more) => {
        const bytes = stream([
          ...texts1.map((text) => chunkOf(first, text)),
          ...texts2.map((text) => chunkOf(second, text, more)),
          ...texts1.map((text) => chunkOf(first, text)),
          chunkOf('content', 'end', ',"finish_reason":"stop"'),
        ]);
        expect(read(bytes)).toEqual(parsed(bytes) ?? []);
      }),
      { numRuns: 300 },
    );
  });

  test('a text that another member holds, one that is written with escapes, a second choice', () => {
    for (const chunks of [
      [
        '{"id":"x","choices":[{"index":0,"delta":{"content":"\\u0078"}}]}',
        '{"id":"y","choices":[{"index":0,"delta":{"content":"\\u0078"}}]}',
      ],
      [chunkOf('content', 'a'), chunkOf('content', 'b'), chunkOf('content', 'b').replace('"index":0', '"index":1')],
      [
        chunkOf('content', 'a'),
        chunkOf('content', 'b'),
        `${chunkOf('content', 'c').slice(0, -1)},"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
      ],
      [
        '{"choices":[{"index":0,"delta":{"content":"a","tool_calls":[]}}]}',
        '{"choices":[{"index":0,"delta":{"content":"b","tool_calls":[]}}]}',
      ],
    ]) {
      const all = stream(['{"choices":[{"index":0,"delta":{"role":"assistant","content":"first"}}]}', ...chunks]);
      const seen = read(all).filter(({ type }) => type !== 'error');
      const wanted = (parsed(all) ?? []).filter(({ type }) => type !== 'choice-end' && type !== 'part-end');
      expect(seen.filter(({ type }) => type !== 'choice-end' && type !== 'part-end')).toEqual(wanted);
    }
  });

  const streams = hasFixtures
    ? recordedCases('openai-chat').filter((one) => replyContentType(one).includes('event-stream'))
    : [];
  test.skipIf(streams.length === 0)('every recorded stream', () => {
    let compared = 0;
    for (const recorded of streams) {
      const wanted = parsed(replyBytes(recorded));
      if (!wanted) continue;
      compared++;
      const seen = read(replyBytes(recorded)).filter(({ type }) => type !== 'error');
      expect(seen).toEqual(wanted.slice(0, seen.length));
      expect(seen.length).toBeGreaterThanOrEqual(wanted.length - 2);
    }
    expect(compared).toBeGreaterThan(20);
  });
});
