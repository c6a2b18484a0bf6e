import { expect, test } from 'bun:test';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Usage } from '../../canonical/usage.ts';
import { Meter } from './meter.ts';

const delta = (text: string) => ({ type: 'part-delta', choice: 0, part: 0, delta: text }) as const;

const NOTHING: Usage = { input: 0, output: 0, source: 'reported' };

/** A token for every two characters. */
const count = (texts: readonly string[]) => Promise.resolve(texts.map((text) => text.length / 2));

test('what the provider reports at the end counts, without waiting', () => {
  const meter = new Meter(100);
  meter.see([
    delta('hello'),
    { type: 'usage', usage: { input: 7, output: 2, source: 'reported' } },
    { type: 'reply-end' },
  ]);
  expect(meter.final(count)).toEqual({ input: 7, output: 2, source: 'reported' });
});

test('a partial report counts, but never for less than was delivered', async () => {
  const meter = new Meter(100);
  const usage: Usage = { input: 7, cachedInput: 3, output: 1, source: 'reported' };
  meter.see([{ type: 'usage', usage }, delta('x'.repeat(40))]);
  expect(meter.soFar()).toEqual({ input: 7, cachedInput: 3, output: 10, source: 'partial' });
  expect(await meter.final(count)).toEqual({ input: 7, cachedInput: 3, output: 20, source: 'partial' });
  meter.see([{ type: 'usage', usage: { ...usage, output: 50 } }]);
  expect(await meter.final(count)).toEqual({ input: 7, cachedInput: 3, output: 50, source: 'partial' });
});

test('a last report from before the end is partial, at the end too', async () => {
  const meter = new Meter(100);
  const usage: Usage = { input: 7, output: 1, source: 'partial' };
  meter.see([{ type: 'usage', usage }, delta('x'.repeat(40)), { type: 'reply-end' }]);
  expect(await meter.final(count)).toEqual({ input: 7, output: 20, source: 'partial' });
});

test('without any report the delivered text is counted: of many deltas, tool calls, reasoning', async () => {
  const meter = new Meter(100);
  meter.see([{ type: 'part-start', choice: 0, part: 0, opens: { type: 'tool-call', id: 'a', name: 'look' } }]);
  for (let i = 0; i < 200; i++) meter.see([delta('ab')]);
  expect(await meter.final(count)).toEqual({ input: 100, output: 202, source: 'counted' });
});

const CALLS: ReplyEvent = {
  type: 'part-start',
  choice: 0,
  part: 0,
  opens: { type: 'tool-call', id: 'a', name: 'look' },
};
const SPEAKS: ReplyEvent = { type: 'part-start', choice: 0, part: 0, opens: { type: 'text' } };

test.each([
  ['at the end', [SPEAKS, delta('hello!'), { type: 'usage', usage: NOTHING }, { type: 'reply-end' }]],
  ['before the text', [{ type: 'usage', usage: NOTHING }, SPEAKS, delta('hello!'), { type: 'reply-end' }]],
  ['of a stream that broke', [{ type: 'usage', usage: NOTHING }, SPEAKS, delta('hello!')]],
] satisfies [string, ReplyEvent[]][])(
  'a report of nothing at all is none where text has come: %s',
  async (_, events) => {
    const meter = new Meter(100);
    meter.see(events);
    expect(await meter.final(count)).toEqual({ input: 100, output: 3, source: 'counted' });
  },
);

test.each([
  ['no text has come', [], NOTHING],
  ['tool calls without text', [CALLS, delta('{}')], NOTHING],
  ['it reports seconds', [SPEAKS, delta('hello!')], { ...NOTHING, seconds: 3 }],
] satisfies [string, ReplyEvent[], Usage][])('a report of no tokens counts where %s', (_, events, usage) => {
  const meter = new Meter(100);
  meter.see([...events, { type: 'usage', usage }, { type: 'reply-end' }]);
  expect(meter.final(count)).toEqual(usage);
});

test('audio and images are not text', async () => {
  const meter = new Meter(100);
  meter.see([
    { type: 'part-start', choice: 0, part: 0, opens: { type: 'audio', id: 'a' } },
    delta('A'.repeat(10_000)),
    { type: 'part-transcript', choice: 0, part: 0, delta: 'hi' },
    { type: 'part-start', choice: 0, part: 1, opens: { type: 'image', mimeType: 'image/png' } },
    { type: 'part-delta', choice: 0, part: 1, delta: 'A'.repeat(100_000) },
  ]);
  expect(await meter.final(count)).toEqual({
    input: 100,
    output: 1 + 10,
    audioOutput: 10,
    images: 1,
    source: 'counted',
  });
});

test('of several upstream calls each counts by itself: reported, partial, counted, or not at all', async () => {
  const meter = new Meter(100);
  meter.split(4, 2, 1);
  const of = (choice: number, text: string) => ({ type: 'part-delta', choice, part: 0, delta: text }) as const;
  meter.see([of(0, 'aaaa'), of(1, 'bb'), of(2, 'cccc'), of(4, 'dddddd'), of(5, 'dd')]);
  meter.seeUsageOf(0, { input: 9, output: 70, reasoning: 60, source: 'reported' });
  meter.seeEndOf(0);
  meter.seeUsageOf(1, { input: 9, output: 1, source: 'reported' });
  expect(await meter.final(count)).toEqual({
    input: 9 + 9 + 100,
    output: 70 + 2 + 4,
    reasoning: 60,
    largestInput: 100,
    source: 'partial',
  });
  meter.seeEndOf(1);
  for (const call of [2, 3]) {
    meter.seeUsageOf(call, { input: 9, output: 5, source: 'reported' });
    meter.seeEndOf(call);
  }
  expect(meter.final(count)).toEqual({
    input: 36,
    output: 81,
    reasoning: 60,
    largestInput: 9,
    source: 'reported',
  });
});

test('a role alone does not count as delivered', () => {
  const meter = new Meter(100);
  meter.see([
    { type: 'reply-start', id: 'a', model: 'm' },
    { type: 'part-start', choice: 0, part: 0, opens: { type: 'text' } },
  ]);
  expect(meter.delivered).toBe(false);
  meter.see([delta('a')]);
  expect(meter.delivered).toBe(true);
});

test('images and audio are counted by their kind, not by their length', () => {
  const meter = new Meter(10);
  meter.see([
    { type: 'part-start', choice: 0, part: 0, opens: { type: 'image', mimeType: 'image/png' } },
    { type: 'part-delta', choice: 0, part: 0, delta: 'A'.repeat(4000) },
    { type: 'part-start', choice: 0, part: 1, opens: { type: 'audio', id: 'a' } },
    { type: 'part-delta', choice: 0, part: 1, delta: 'A'.repeat(4000) },
    { type: 'part-start', choice: 1, part: 0, opens: { type: 'text' } },
    { type: 'part-delta', choice: 1, part: 0, delta: 'four' },
  ]);
  expect(meter.soFar()).toEqual({ input: 10, output: 5, audioOutput: 4, images: 1, source: 'counted' });
  meter.see([{ type: 'usage', usage: { input: 7, output: 1290, source: 'reported' } }, { type: 'reply-end' }]);
  expect(meter.final(count)).toEqual({ input: 7, output: 1290, images: 1, source: 'reported' });
});
