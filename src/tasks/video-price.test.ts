import { expect, test } from 'bun:test';
import { charge } from '../ledger/charge.ts';
import { quoteVideo, videoUsage } from './video-price.ts';

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
])('a second of %j costs what is said of that size', (asked, each) => {
  const ask = { seconds: 5, n: 2, ...asked };
  expect(quoteVideo(ask, PRICE)).toBe(10n * each);
  expect(charge(videoUsage(ask, 1), PRICE)).toBe(5n * each);
});

test('what is recorded of several videos makes their bill again', () => {
  const price = { perCall: 7n };
  const usage = videoUsage({ n: 3 }, 3);
  expect(charge(JSON.parse(JSON.stringify(usage)), price)).toBe(21n);
  expect(quoteVideo({ n: 3 }, price)).toBe(21n);
  expect(charge(videoUsage({ n: 3 }, 0), price)).toBe(7n);
});
