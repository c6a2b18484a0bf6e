import { describe, expect, test } from 'bun:test';
import { CALL_DEFAULTS, chatCall } from '../../test/helpers/chat-call.ts';
import { atLeast } from '../../test/helpers/fixtures.ts';
import { recordedHolds } from '../../test/helpers/recorded-holds.ts';
import type { ChatCall } from '../canonical/call.ts';
import type { Price } from '../canonical/price.ts';
import type { Usage } from '../canonical/usage.ts';
import { isDisputed, type Judged, mostOf } from './doubt.ts';
import { charge } from './pricing/charge.ts';
import { quote } from './pricing/quote.ts';

const PRICE = { input: 1_000_000n, cachedInput: 100_000n, output: 4_000_000n };
const CEILING = 1000;
const CALL = chatCall();
const HELD = quote(CALL, PRICE, CEILING);
const report = (members: Partial<Usage>): Usage => ({ input: 10, output: 10, source: 'reported', ...members });

function judged(reported: Usage, members: Partial<Judged> = {}, price: Price = PRICE): boolean {
  const delivered: Usage = { input: 10, output: 10, source: 'counted' };
  const all = { call: CALL, ceiling: CEILING, contextTokens: 100_000, sendings: 1, delivered, ...members };
  return isDisputed(reported, charge(reported, price), HELD, mostOf(all, reported));
}

describe('a report is accepted', () => {
  test('up to twice the hold, whatever was delivered', () => {
    expect(judged(report({ output: 2 * CEILING }))).toBe(false);
  });

  test('for hidden reasoning up to the held ceiling', () => {
    expect(judged(report({ output: CEILING, reasoning: CEILING - 10 }))).toBe(false);
  });

  test('above that for delivered output, from a provider that ignores the ceiling', () => {
    const delivered: Usage = { input: 10, output: 5000, source: 'counted' };
    expect(judged(report({ output: 8000 }), { delivered })).toBe(false);
    expect(judged(report({ output: 12_000 }), { delivered })).toBe(true);
  });

  test('for delivered audio and images', () => {
    const delivered: Usage = { input: 10, output: 200, audioOutput: 200, images: 1, source: 'counted' };
    expect(judged(report({ output: 9000, audioOutput: 8000 }), { delivered })).toBe(false);
  });

  test('for input that provider tools read, up to the context each time', () => {
    const search = chatCall({ tools: [{ type: 'web-search', options: {}, dialect: 'a' }] });
    expect(judged(report({ input: 90_000 }), { call: search })).toBe(false);
    expect(judged(report({ input: 290_000, serverToolCalls: 2 }))).toBe(false);
    expect(judged(report({ input: 90_000 }))).toBe(true);
    expect(judged(report({ input: 1e9, serverToolCalls: 1e9 }))).toBe(true);
  });

  test('for twice as many tool calls as were held', () => {
    const price = { ...PRICE, perToolCall: 10_000_000n };
    const claimed = (serverToolCalls: number, toolCalls?: number) =>
      judged(report({ serverToolCalls }), toolCalls === undefined ? {} : { toolCalls }, price);
    expect([claimed(40), claimed(41)]).toEqual([false, true]);
    expect([claimed(140, 70), claimed(141, 70)]).toEqual([false, true]);
  });

  test('for input that a reference adds', () => {
    const cached = chatCall({ extras: { gemini: { cachedContent: 'cachedContents/a' } } });
    expect(judged(report({ input: 90_000, cachedInput: 89_000 }), { call: cached })).toBe(false);
  });
});

describe('a report is disputed', () => {
  test.each<[string, Partial<Usage>]>([
    ['more output than was held for', { output: 4000 }],
    ['a billion tokens', { output: 1_772_656_915 }],
    ['more reasoning than was held for', { output: 4000, reasoning: 3990 }],
    ['input that was not sent', { input: 50_000 }],
    ['the largest figures there are', { input: Number.MAX_SAFE_INTEGER, output: Number.MAX_SAFE_INTEGER }],
  ])('%s', (_, members) => {
    expect(judged(report(members))).toBe(true);
  });

  test('above ten million USD, whatever the hold', () => {
    const usage = report({ output: 10 });
    expect(isDisputed(usage, 10_000_001n * 10n ** 9n, 10n ** 17n, {})).toBe(true);
  });

  test.each<[unit: 'seconds' | 'characters' | 'searches']>([['seconds'], ['characters'], ['searches']])(
    'with more %s than possible',
    (unit) => {
      expect(isDisputed(report({ [unit]: 401 }), 41n, 20n, { [unit]: 400 })).toBe(true);
      expect(isDisputed(report({ [unit]: 400 }), 41n, 20n, { [unit]: 400 })).toBe(false);
    },
  );
});

describe('recorded replies', () => {
  test('are never disputed, even with a hold of 0', async () => {
    let judgedOnes = 0;
    const disputed: string[] = [];
    for await (const { file, call, reported, delivered } of recordedHolds()) {
      judgedOnes++;
      const all = { call, ceiling: 4096, contextTokens: undefined, sendings: 1, delivered };
      const cost = charge(reported, PRICE);
      if (isDisputed(reported, cost, 0n, mostOf(all, reported))) disputed.push(file);
      const held = quote(call, PRICE, 4096);
      expect(`${file} ${isDisputed(reported, cost, held, mostOf(all, reported))}`).toBe(`${file} false`);
    }
    expect(disputed).toEqual([]);
    expect(judgedOnes).toBeGreaterThanOrEqual(atLeast(500));
  }, 60_000);
});

describe('media in the request itself', () => {
  const given = (kind: 'image' | 'document' | 'audio', bytes: number, many = 1) => {
    const media = { kind, mimeType: 'any', source: { type: 'inline', base64: 'A'.repeat((bytes * 4) / 3) } } as const;
    const parts = Array.from({ length: many }, () => ({ type: 'media', media }) as const);
    return chatCall({ maxOutputTokens: 300, messages: [{ role: 'user', parts }] });
  };
  /** GPT-4o mini. */
  const price = { input: 150_000n, output: 600_000n };
  const isDisputedFor = (call: ChatCall, input: number) => {
    const reported = report({ input });
    const all = { call, ceiling: 300, contextTokens: 128_000, sendings: 1, delivered: report({ source: 'counted' }) };
    return isDisputed(reported, charge(reported, price), quote(call, price, 300), mostOf(all, reported));
  };

  test.each<[string, ChatCall, number]>([
    ['an image of 1024 x 1024 pixels at GPT-4o mini', given('image', 90_000), 25_501 + 90],
    ['two of the largest', given('image', 900_000, 2), 2 * 48_169 + 90],
    ['a compressed PDF of 40 pages of text', given('document', 120_000), 120_000],
    ['an hour of speech at 6 kbit/s', given('audio', 2_700_000), 115_200],
  ])('costs what it has: %s', (_, call, input) => {
    expect(isDisputedFor(call, input)).toBe(false);
  });

  test('is counted for edits of images too', () => {
    const images = Array.from({ length: 16 }, () => ({ kind: 'image', source: { type: 'inline', base64: 'AAAA' } }));
    const call = { ...CALL_DEFAULTS, kind: 'image', prompt: 'x', images, edit: true, n: 1, size: {} } as never;
    const all = { call, ceiling: 0, contextTokens: undefined, sendings: 1, delivered: report({ source: 'counted' }) };
    expect(isDisputed(report({ input: 105_000 }), 3n, 1n, mostOf(all, report({})))).toBe(false);
    expect(isDisputed(report({ input: 1_000_000 }), 3n, 1n, mostOf(all, report({})))).toBe(true);
  });

  test('is judged as what it is, also in the place of an image', () => {
    const media = {
      kind: 'image',
      mimeType: 'video/mp4',
      source: { type: 'inline', base64: 'A'.repeat(40_000) },
    } as const;
    const call = chatCall({ maxOutputTokens: 300, messages: [{ role: 'user', parts: [{ type: 'media', media }] }] });
    expect(isDisputedFor(call, 120_000)).toBe(false);
  });

  test('has not more than the context, and an image not more than the largest', () => {
    expect(isDisputedFor(given('document', 30_000), 200_000)).toBe(true);
    expect(isDisputedFor(given('image', 90_000), 100_000)).toBe(true);
  });
});

describe('a transcription', () => {
  const seconds = 600;
  const call = {
    ...CALL_DEFAULTS,
    kind: 'transcription',
    fields: [],
    length: { seconds, mostSeconds: seconds },
  } as never;
  const price = { perSecond: 100_000n };
  const isDisputedFor = (usage: Partial<Usage>) => {
    const reported = report({ input: 0, output: 0, ...usage });
    const all = { call, ceiling: 0, contextTokens: undefined, sendings: 1, delivered: report({ source: 'counted' }) };
    return isDisputed(reported, charge(reported, price), quote(call, price, 0), mostOf(all, reported));
  };

  test('of speech at the lowest bit rates costs its length', () => {
    // Opus at 6 kbit/s. The hold is for 16.
    expect(isDisputedFor({ seconds: 1600, input: 16_000, output: 5000 })).toBe(false);
  });
  test('of more than that is disputed', () => {
    expect(isDisputedFor({ seconds: 2500 })).toBe(true);
    expect(isDisputedFor({ seconds: 1600, output: 1_000_000 })).toBe(true);
  });
});

test('a video by URL may count as a whole context, a text may not', () => {
  const judged = {
    ceiling: 10,
    contextTokens: 500_000,
    sendings: 1,
    delivered: { input: 0, output: 0, source: 'counted' } as const,
  };
  const reported = { input: 0, output: 0, source: 'reported' } as const;
  const most = (parts: ChatCall['messages'][number]['parts']) =>
    mostOf({ ...judged, call: chatCall({ messages: [{ role: 'user', parts }] }) }, reported).input ?? 0;
  const text = { type: 'text', text: 'What is this?' } as const;
  const video = { kind: 'video', mimeType: 'video/mp4', source: { type: 'url', url: 'https://media.test/a.mp4' } };
  const withVideo = most([text, { type: 'media', media: video } as never]);
  expect(withVideo).toBeGreaterThanOrEqual(most([text]) + 500_000);
  expect(withVideo).toBeLessThan(1_000_000);
});
