import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../test/helpers/chat-call.ts';
import type { ChatCall } from '../../canonical/call.ts';
import { addEvent, emptyReply, type ReplyEvent } from '../../canonical/reply.ts';
import type { Dialect, Frame } from '../../dialects/dialect.ts';
import type { Upstream } from '../attempt/upstream.ts';
import { Meter } from '../settle/meter.ts';
import { fanOut, merge } from './fan-out.ts';

const MANY = { name: 'many' } as Dialect;
const SINGLE = { name: 'single', singleChoice: true } as Dialect;

const FIRST: Partial<ChatCall> = {
  origin: { dialect: 'openai-completions', body: new Uint8Array() },
  stream: false,
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'first' }] }],
};
const callWith = (change: Partial<ChatCall>): ChatCall => chatCall({ ...FIRST, ...change });

describe('fanOut', () => {
  test('one prompt and one choice is the call itself', () => {
    const call = callWith({});
    expect(fanOut(call, SINGLE)).toEqual([call]);
  });

  test('several choices stay one call if the format supports them', () => {
    expect(fanOut(callWith({ sampling: { n: 3 } }), MANY)).toHaveLength(1);
  });

  test('several choices become several calls if it does not', () => {
    const calls = fanOut(callWith({ sampling: { n: 3, temperature: 1 } }), SINGLE);
    expect(calls.map((call) => call.sampling)).toEqual([{ temperature: 1 }, { temperature: 1 }, { temperature: 1 }]);
  });

  test('every prompt becomes a call of its own, with its choices', () => {
    const completion = { prompts: ['first', 'second'], echo: false };
    const calls = fanOut(callWith({ completion, sampling: { n: 2 } }), MANY);
    expect(calls.map((call) => [call.messages[0]?.parts[0], call.completion?.prompts, call.sampling.n])).toEqual([
      [{ type: 'text', text: 'first' }, ['first'], 2],
      [{ type: 'text', text: 'second' }, ['second'], 2],
    ]);
    expect(fanOut(callWith({ completion, sampling: { n: 2 } }), SINGLE)).toHaveLength(4);
  });
});

function upstreamOf(...arrivals: ReplyEvent[][]): Upstream {
  return {
    same: false,
    async next() {
      const events = arrivals.shift();
      await Bun.sleep(1);
      return events && [{ bytes: new Uint8Array(), events }];
    },
  };
}

const reply = (text: string, tokens: number): ReplyEvent[][] => [
  [
    { type: 'reply-start', id: text, model: 'm' },
    { type: 'part-start', choice: 0, part: 0, opens: { type: 'text' } },
  ],
  [{ type: 'part-delta', choice: 0, part: 0, delta: text }],
  [
    { type: 'choice-end', choice: 0, finish: { reason: 'stop' } },
    { type: 'usage', usage: { input: 1, output: tokens, source: 'reported' } },
    { type: 'reply-end' },
  ],
];

async function eventsOf(upstream: Upstream): Promise<ReplyEvent[]> {
  const frames: Frame[] = [];
  for (let more = await upstream.next(); more; more = await upstream.next()) frames.push(...more);
  return frames.flatMap((frame) => frame.events);
}

describe('merge', () => {
  test('choices are numbered consecutively, usage is summed, there is one start and one end', async () => {
    const events = await eventsOf(merge([upstreamOf(...reply('a', 2)), upstreamOf(...reply('b', 3))], 1, new Meter(9)));
    const merged = emptyReply();
    for (const event of events) addEvent(merged, event);
    expect(merged.choices.map((choice) => choice.parts[0]?.content)).toEqual(['a', 'b']);
    expect(merged.usage).toEqual({ input: 2, output: 5, largestInput: 1, source: 'reported' });
    expect(events.filter((event) => event.type === 'reply-start')).toHaveLength(1);
    expect(events.filter((event) => event.type === 'reply-end')).toHaveLength(1);
    expect(events.at(-1)?.type).toBe('reply-end');
  });

  test('more images than requested in one call do not overwrite those of others, and each is counted in its own call', async () => {
    const drawn = (...names: string[]): ReplyEvent[][] => [
      names.flatMap((name, choice): ReplyEvent[] => [
        { type: 'part-start', choice, part: 0, opens: { type: 'image', mimeType: 'image/png' } },
        { type: 'part-delta', choice, part: 0, delta: name },
        { type: 'choice-end', choice, finish: { reason: 'stop' } },
      ]),
      [{ type: 'reply-end' }],
    ];
    const meter = new Meter(9);
    meter.split(3, 2, 3);
    const calls = [
      upstreamOf(...drawn('a', 'b', 'more', 'most')),
      upstreamOf(...drawn('c', 'd', 'else')),
      upstreamOf(...drawn('e')),
    ];
    const merged = emptyReply();
    for (const event of await eventsOf(merge(calls, 2, meter))) {
      addEvent(merged, event);
      meter.see([event]);
    }
    const images = merged.choices.flatMap(({ parts }) => parts.map(({ content }) => content));
    expect(images).toEqual(['a', 'b', 'c', 'd', 'e', 'more', 'most', 'else']);
    expect(meter.soFar()).toMatchObject({ images: 8 });
  });

  test('without a report from each there is no sum', async () => {
    const silent = reply('b', 3).map((events) => events.filter((event) => event.type !== 'usage'));
    const events = await eventsOf(merge([upstreamOf(...reply('a', 2)), upstreamOf(...silent)], 1, new Meter(9)));
    expect(events.some((event) => event.type === 'usage')).toBe(false);
  });
});

test('the report of a branch is available before the others have ended', async () => {
  const meter = new Meter(9);
  meter.split(2, 1, 1);
  const silent: Upstream = { same: false, next: () => new Promise(() => {}) };
  const merged = merge([upstreamOf(...reply('a', 700)), silent], 1, meter);
  for (let i = 0; i < 3; i++) for (const frame of (await merged.next()) ?? []) meter.see(frame.events);
  expect(meter.final(() => Promise.resolve([]))).toBeInstanceOf(Promise);
  const used = await meter.final((texts) => Promise.resolve(texts.map(({ length }) => length)));
  expect(used).toEqual({ input: 1, output: 700, source: 'reported' });
});

test('a branch that fails after another has ended the call leaves no unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (cause: unknown) => unhandled.push(cause);
  process.on('unhandledRejection', note);
  const failing: Upstream = { same: false, next: () => Promise.reject(new Error('cut')) };
  const first = merge([upstreamOf(...reply('a', 2)), failing], 1, new Meter(9)).next();
  await expect(first).rejects.toThrow('cut');
  await Bun.sleep(10);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
