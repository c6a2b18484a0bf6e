/** Chunks recognized by the previous one mean the same as if each were parsed. */

import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { atLeast, cutBytes, recordedCases, replyBytes, replyContentType } from '../../../../test/helpers/fixtures.ts';
import { fc } from '../../../../test/helpers/property.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import { SseCutter } from '../../wire/sse.ts';
import { ChatNormalizer } from './normalize.ts';
import { openaiChat } from './openai-chat.ts';
import { ChatDecoder } from './read-stream.ts';

const call = chatCall({ origin: { dialect: openaiChat.name, body: new Uint8Array() }, messages: [] });

/** What the reader makes of the stream, up to its end. */
function read(bytes: Uint8Array): ReplyEvent[] {
  const reader = openaiChat.reader(call, 'text/event-stream', {});
  const frames = [...cutBytes(bytes, 7).flatMap((piece) => reader.read(piece)), ...reader.end()];
  return frames.flatMap(({ events }) => events).filter(({ type }) => type !== 'reply-end');
}

/** Each chunk alone; `undefined` if the stream has something else. */
function parsed(bytes: Uint8Array): ReplyEvent[] | undefined {
  const repair = new ChatNormalizer({});
  const decoder = new ChatDecoder(call, {});
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

const FINISH = `data: ${chunkOf('content', 'end', ',"finish_reason":"stop"')}\n\n`;

const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;

describe('a chunk like the one before', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a', '\ufeffa', '日本', '"', '\\', '\n', 'a","b":"', '"}}]}', 'content', 'm', ''),
  );
  const texts = fc.array(text);
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

  /** Four chunks in a row are equal. */
  const some = <T>(...choices: T[]) => fc.array(fc.constantFrom(...choices), { minLength: 5, maxLength: 5 });
  const ofRow = <T>(rows: readonly T[], n: number) => rows[Math.floor(n / 4)];
  const layouts = fc.record({
    starts: some('data: ', 'data: ', 'data:', ': ping\n\ndata: ', 'id: 7\ndata: ', 'event: x\ndata: '),
    lineEnds: some('\n\n', '\n\n', '\r\n\r\n', '\n\r\n', '\r\n\n', '\r\r'),
    isAscii: some(false, true),
    mark: fc.constantFrom('', '\ufeff'),
    /** How many events arrive together, and where else the bytes are split. */
    arrivals: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 10 }),
    cuts: fc.array(fc.nat(), { maxLength: 3 }),
    isBuffer: fc.boolean(),
  });
  const manyTexts = fc.array(text, { minLength: 4, maxLength: 20 });

  test('any line ends and any chunk boundaries: the same meaning, every byte once', () => {
    fc.assert(
      fc.property(manyTexts, layouts, (contents, { starts, lineEnds, isAscii, mark, arrivals, cuts, isBuffer }) => {
        const chunks = contents.map((text) => chunkOf('content', text));
        const events = chunks.map((chunk, n) => {
          const json = ofRow(isAscii, n) ? chunk.replace(/[^\x20-\x7e]/g, escaped) : chunk;
          return `${ofRow(starts, n)}${json}${ofRow(lineEnds, n)}`;
        });
        const bytes = Buffer.from(`${mark}${events.join('')}${FINISH}`);
        const at = [0, bytes.length, ...cuts.map((cut) => cut % bytes.length)];
        for (let n = 0, event = 0; n < arrivals.length; n++) {
          event += arrivals[n] ?? 0;
          at.push(Buffer.byteLength(mark + events.slice(0, event).join('')));
        }
        at.sort((a, b) => a - b);
        const pieces = at.slice(1).map((end, n) => bytes.subarray(at[n], end));
        const reader = openaiChat.reader(call, 'text/event-stream', {});
        const frames = pieces.flatMap((piece) => reader.read(isBuffer ? piece : new Uint8Array(piece)));
        frames.push(...reader.end());
        const meant = frames.flatMap((frame) => frame.events).filter(({ type }) => type !== 'reply-end');
        expect(meant).toEqual(parsed(bytes) ?? []);
        expect(Buffer.concat(frames.map((frame) => frame.bytes)).equals(bytes)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test('a text that another member also has, one with escapes, a second choice', () => {
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

  const streams = recordedCases('openai-chat').filter((one) => replyContentType(one).includes('event-stream'));
  test('every recorded stream', () => {
    let compared = 0;
    for (const recorded of streams) {
      const wanted = parsed(replyBytes(recorded));
      if (!wanted) continue;
      compared++;
      const seen = read(replyBytes(recorded)).filter(({ type }) => type !== 'error');
      expect(seen).toEqual(wanted.slice(0, seen.length));
      expect(seen.length).toBeGreaterThanOrEqual(wanted.length - 2);
    }
    expect(compared).toBeGreaterThanOrEqual(atLeast(20));
  });
});

describe('what a client is sent of chunks that are alike', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('a', '日本', '"', ',"usage":null', '"model":"m"', '\\'));
  const texts = fc.array(text, { minLength: 3, maxLength: 12 });
  const nulls = fc.constantFrom('', ',"usage":null', ', "usage": null');
  const models = fc.constantFrom('m', 'public', 'a name that is longer');
  const json = (place: string, model: string, nothing: string, text: string) => {
    const choices = `"choices":[{"index":0,"delta":{"role":"assistant","content":${JSON.stringify(text)}},"finish_reason":null}]`;
    const named = `"model":${JSON.stringify(model)}`;
    const head = '"id":"a","object":"chat.completion.chunk","created":1';
    return place === 'before' ? `{${head},${named},${choices}${nothing}}` : `{${head},${choices}${nothing},${named}}`;
  };

  test('passed on: its own bytes with the name of the requested model, without an empty usage', () => {
    const places = fc.constantFrom('before', 'after');
    fc.assert(
      fc.property(texts, places, models, nulls, fc.boolean(), (contents, place, model, nothing, wantsUsage) => {
        const streamCall = { ...call, model: 'public', wantsUsage };
        const reader = openaiChat.reader(streamCall, 'text/event-stream', {});
        const writer = openaiChat.writer(streamCall);
        for (const text of contents) {
          if (text === '') continue;
          const bytes = Buffer.from(`data: ${json(place, model, nothing, text)}\n\n`);
          const parts = reader.read(bytes).map((frame) => writer.pass(frame));
          const kept = wantsUsage ? nothing : '';
          expect(Buffer.concat(parts).toString()).toBe(`data: ${json(place, 'public', kept, text)}\n\n`);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('a usage chunk of the gateway has their id and time', () => {
    const streamCall = { ...call, model: 'public', wantsUsage: true };
    const reader = openaiChat.reader(streamCall, 'text/event-stream', {});
    const writer = openaiChat.writer(streamCall);
    const frames = ['one', 'two', 'three'].flatMap((text) =>
      reader.read(Buffer.from(`data: ${json('before', 'm', '', text)}\n\n`)),
    );
    expect(frames.at(-1)?.like).toBeDefined();
    for (const frame of frames) writer.pass(frame);
    writer.bill?.({ input: 3, output: 2, source: 'counted' });
    const [usage = ''] = Buffer.from(writer.end()).toString().split('\n');
    expect(JSON.parse(usage.slice('data: '.length))).toMatchObject({
      id: 'a',
      created: 1,
      usage: { prompt_tokens: 3 },
    });
  });

  test('translated: the same chunks as from their events', () => {
    fc.assert(
      fc.property(
        texts,
        fc.boolean(),
        fc.constantFrom('content', 'reasoning_content'),
        (contents, wantsUsage, member) => {
          const streamCall = { ...call, model: 'public', wantsUsage };
          const reader = openaiChat.reader(streamCall, 'text/event-stream', {});
          const writers = [openaiChat.writer(streamCall), openaiChat.writer(streamCall)];
          const frames = stream(contents.map((text) => chunkOf(member, text)));
          for (const frame of [...reader.read(frames), ...reader.read(Buffer.from(FINISH))]) {
            const [known, anew] = [frame, { bytes: frame.bytes, events: frame.events }].map((one, at) =>
              Buffer.from(writers[at]?.write(one) ?? []).toString(),
            );
            expect(known).toBe(anew);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
