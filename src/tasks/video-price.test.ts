import { describe, expect, test } from 'bun:test';
import { charge } from '../ledger/pricing/charge.ts';
import { dueFor, quoteVideo, videoUsage } from './video-price.ts';

const PRICE = {
  perSecond: 900n,
  clips: [
    { size: '1280x720', price: 300n },
    { size: '720p', price: 200n },
  ],
};

test.each([
  [{ width: 1280, height: 720 }, 300n],
  [{ resolution: '720p' }, 200n],
  [{ resolution: '4k' }, 900n],
  [{}, 900n],
])('a second of %j has the price of its size', (size, each) => {
  const ask = { seconds: 5, n: 2, ...size };
  expect(quoteVideo(ask, PRICE)).toBe(10n * each);
  expect(charge(videoUsage(ask, 1), PRICE)).toBe(5n * each);
});

test('the recorded usage of several videos gives the same bill again', () => {
  const price = { perCall: 7n };
  const usage = videoUsage({ n: 3 }, 3);
  expect(charge(JSON.parse(JSON.stringify(usage)), price)).toBe(21n);
  expect(quoteVideo({ n: 3 }, price)).toBe(21n);
  expect(charge(videoUsage({ n: 3 }, 0), price)).toBe(7n);
});

test('fewer frames a second make a video of tokens neither cheaper to hold nor disputed', () => {
  const price = { output: 7_000_000n };
  const ask = { seconds: 5, n: 1, width: 1280, height: 720 };
  const held = quoteVideo({ ...ask, fps: 1 }, price);
  expect(held).toBe(quoteVideo(ask, price));
  expect(quoteVideo({ ...ask, fps: 48 }, price)).toBe(2n * held);
  const outputTokens = (1280 * 720 * 24 * 5) / 1024;
  const due = dueFor({ ...ask, fps: 1 }, 1, { outputTokens }, price, held);
  expect([due.disputed, due.cost]).toEqual([undefined, held]);
});

describe("the charge follows the provider's report", () => {
  const price = { perSecond: 100_000_000n };
  const ask = { seconds: 4, n: 1 };
  const held = quoteVideo(ask, price);

  test.each([
    [{ seconds: 4 }, 400_000_000n],
    [{ seconds: 5 }, 500_000_000n],
    [{ seconds: 8 }, 800_000_000n],
    [{ seconds: 2.5 }, 250_000_000n],
    [{}, 400_000_000n],
    [{ seconds: Number.POSITIVE_INFINITY }, 400_000_000n],
    [{ seconds: Number.NaN }, 400_000_000n],
    [{ seconds: -4 }, 400_000_000n],
  ])('an order of %j for four seconds', (billed, cost) => {
    expect(dueFor(ask, 1, billed, price, held)).toEqual({ usage: expect.anything(), cost });
  });

  test('a report of 400 seconds for an order of four is disputed, and the hold is charged', () => {
    const due = dueFor(ask, 1, { seconds: 400 }, price, held);
    const reported = { input: 0, output: 0, videos: 1, seconds: 400, source: 'reported' } as const;
    const claimed = { cost: '40', usage: reported };
    const usage = { input: 0, output: 0, videos: 1, seconds: 4, source: 'counted', claimed } as const;
    expect(due).toEqual({ usage, cost: 400_000_000n, disputed: true });
  });

  test('more tokens than the largest video has are disputed too', () => {
    const byTokens = { output: 1_000_000n };
    const most = quoteVideo(ask, byTokens);
    expect(dueFor(ask, 1, { outputTokens: 100_000 }, byTokens, most)).not.toHaveProperty('disputed');
    expect(dueFor(ask, 1, { outputTokens: 1e9 }, byTokens, most)).toMatchObject({ disputed: true, cost: most });
    expect(dueFor(ask, 1, { outputTokens: 1e308 }, byTokens, most)).not.toHaveProperty('disputed');
  });

  test('without an ordered length the report counts, up to a minute', () => {
    const open = { n: 1 };
    expect(dueFor(open, 1, { seconds: 8 }, price, 0n)).toMatchObject({ cost: 800_000_000n });
    expect(dueFor(open, 1, { seconds: 400 }, price, 0n)).toMatchObject({ cost: 0n, disputed: true });
  });
});
