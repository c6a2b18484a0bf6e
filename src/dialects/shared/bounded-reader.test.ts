import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../test/helpers/chat-call.ts';
import type { Call } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Frame, Reader } from '../dialect.ts';
import { boundedReader, MOST_PARTS, MOST_SKIPPED } from './bounded-reader.ts';

const NO_BYTES = new Uint8Array();

/** Returns these events, one frame each. */
function readerOf(events: readonly ReplyEvent[]): Reader {
  const frames = events.map((event): Frame => ({ bytes: NO_BYTES, events: [event] }));
  return { read: () => frames, end: () => [{ bytes: NO_BYTES, events: [{ type: 'reply-end' }] }] };
}

/** The events that pass, by type; the code of an error. */
function through(events: readonly ReplyEvent[], call: Call = chatCall({})): string[] {
  const reader = boundedReader(readerOf(events), call, { skippedEvents: 0 });
  const frames = [...reader.read(NO_BYTES), ...reader.end()];
  return frames.flatMap(({ events }) =>
    events.map((event) => (event.type === 'error' ? event.error.code : event.type)),
  );
}

const delta = (choice: number, part: number): ReplyEvent => ({ type: 'part-delta', choice, part, delta: 'a' });

describe('indexes', () => {
  test('requested ones pass', () => {
    expect(through([delta(0, 0), delta(0, MOST_PARTS - 1)])).toEqual(['part-delta', 'part-delta', 'reply-end']);
    expect(through([delta(3, 0)], chatCall({ sampling: { n: 4 } }))).toEqual(['part-delta', 'reply-end']);
  });

  for (const [name, event] of [
    ['a choice far above the requested number', delta(50_000_000, 0)],
    ['a second choice if one was requested', delta(1, 0)],
    ['a negative choice', delta(-1, 0)],
    ['half a choice', delta(0.5, 0)],
    ['a choice that is no number', delta('0' as unknown as number, 0)],
    ['the end of such a choice', { type: 'choice-end', choice: 50_000_000, finish: { reason: 'stop' } }],
    ['a part beyond any reply', delta(0, MOST_PARTS)],
    ['a negative part', delta(0, -1)],
  ] satisfies [string, ReplyEvent][]) {
    test(`${name} is an upstream failure, and everything after it is ignored`, () => {
      expect(through([delta(0, 0), event, delta(0, 0)])).toEqual(['part-delta', 'upstream_failed']);
    });
  }
});

test('image providers may send some more than requested', () => {
  const call = { kind: 'image', n: 1 } as unknown as Call;
  expect(through([delta(3, 0)], call)).toEqual(['part-delta', 'reply-end']);
  expect(through([delta(17, 0)], call)).toEqual(['upstream_failed']);
});

describe('results', () => {
  const embed = { kind: 'embed', inputs: ['a', 'b'] } as unknown as Call;
  const rerank = { kind: 'rerank', documents: ['a', 'b'] } as unknown as Call;
  const vectors = (...indexes: number[]): ReplyEvent => ({
    type: 'result',
    result: { type: 'vectors', vectors: indexes.map((index) => ({ index, values: [1] })) },
  });
  const ranking = (index: number, score: number): ReplyEvent => ({
    type: 'result',
    result: { type: 'ranking', ranking: [{ index, score }] },
  });

  test('a vector for each input passes; one without an input, or one too many, does not', () => {
    expect(through([vectors(1, 0)], embed)).toEqual(['result', 'reply-end']);
    expect(through([vectors(2)], embed)).toEqual(['upstream_failed']);
    expect(through([vectors(0, 1, 1)], embed)).toEqual(['upstream_failed']);
  });

  test('a score for a document passes; one without a document, or not a number, does not', () => {
    expect(through([ranking(1, 0.5)], rerank)).toEqual(['result', 'reply-end']);
    expect(through([ranking(2, 0.5)], rerank)).toEqual(['upstream_failed']);
    expect(through([ranking(0, Number.POSITIVE_INFINITY)], rerank)).toEqual(['upstream_failed']);
  });
});

test('an invalid time is dropped and the reply continues', () => {
  const start: ReplyEvent = { type: 'reply-start', id: 'a', model: 'm', createdSeconds: 1e308 };
  expect(through([start])).toEqual(['reply-start', 'reply-end']);
  expect(start).not.toHaveProperty('createdSeconds');
});

test('a decoding error, immediate or at the first read, is an upstream failure', () => {
  const throws = (): never => {
    throw new TypeError('no such member');
  };
  const lazy: Frame = {
    bytes: NO_BYTES,
    get events(): never {
      return throws();
    },
  };
  for (const reader of [
    { read: () => [lazy], end: () => [] },
    { read: throws, end: () => [] },
    { read: () => [], end: throws },
  ]) {
    const bounded = boundedReader(reader, chatCall({}), { skippedEvents: 0 });
    const frames = [...bounded.read(NO_BYTES), ...bounded.end()];
    expect(frames.flatMap(({ events }) => events)).toMatchObject([
      { type: 'error', error: { code: 'upstream_failed' } },
    ]);
  }
});

describe('an event that cannot be read', () => {
  const text: ReplyEvent = { type: 'part-start', choice: 0, part: 0, opens: { type: 'text' } };
  const end: ReplyEvent = { type: 'choice-end', choice: 0, finish: { reason: 'stop' } };
  const tools = [{ type: 'function' as const, name: 'f', parameters: {} }];
  const unreadable = (): ReplyEvent => ({
    type: 'error',
    error: new GatewayError('upstream_failed', 'Unreadable.'),
    isLocal: true,
  });

  test('is left out of a text, and counted', () => {
    const skips = { skippedEvents: 0 };
    const reader = boundedReader(readerOf([text, unreadable(), delta(0, 0), end, unreadable()]), chatCall({}), skips);
    const events = [...reader.read(NO_BYTES), ...reader.end()].flatMap((frame) => frame.events);
    expect(events.map(({ type }) => type)).toEqual(['part-start', 'part-delta', 'choice-end', 'reply-end']);
    expect(skips.skippedEvents).toBe(2);
  });

  test('breaks the stream where it is one too many', () => {
    const few = Array.from({ length: MOST_SKIPPED }, unreadable);
    expect(through([text, ...few, end])).toEqual(['part-start', 'choice-end', 'reply-end']);
    expect(through([text, ...few, unreadable(), end])).toEqual(['part-start', 'upstream_failed']);
  });

  for (const [name, events, members] of [
    ['before any text', [], {}],
    ['after a text has ended', [text, { type: 'part-end', choice: 0, part: 0 }], {}],
    ['in reasoning', [text, { type: 'part-start', choice: 0, part: 1, opens: { type: 'reasoning' } }], {}],
    [
      'in a tool call',
      [{ type: 'part-start', choice: 0, part: 0, opens: { type: 'tool-call', id: 'a', name: 'f' } }],
      {},
    ],
    ['where a tool call may come', [text], { tools }],
    ['in JSON', [text], { output: { type: 'json' } }],
    ['in one of several choices', [text], { sampling: { n: 2 } }],
  ] satisfies [string, ReplyEvent[], Parameters<typeof chatCall>[0]][]) {
    test(`breaks the stream ${name}`, () => {
      expect(through([...events, unreadable(), end], chatCall(members))).toEqual([
        ...events.map(({ type }) => type),
        'upstream_failed',
      ]);
    });
  }
});
