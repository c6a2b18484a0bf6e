import { expect, test } from 'bun:test';
import { aboveIdle, chunksOf, orderOf } from './windows.ts';

test('every round begins with another one, and every second round is reversed', () => {
  const items = ['a', 'b', 'c'];
  expect([0, 1, 2, 3].map((round) => orderOf(items, round).join(''))).toEqual(['abc', 'acb', 'cab', 'cba']);
  expect(orderOf([], 3)).toEqual([]);
});

test('what is spent while nothing is asked is left out of the total, in the windows it is part of the cost', () => {
  const moments = {
    idle: { at: 0, allUs: 1000 },
    start: { at: 5000, allUs: 26_000 },
    end: { at: 65_000, allUs: 1_026_000 },
  };
  // 5 µs a millisecond while idle; 60 s, 7.5 of them in windows.
  expect(aboveIdle(moments, 7500)).toBe(1_000_000 - 5 * 52_500);
  expect(aboveIdle({ ...moments, idle: undefined }, 7500)).toBeNaN();
});

test('chunks are counted once all streams are open, however long that takes', () => {
  const mark = (allUs: number, chunks: number, mostStreams: number) => ({ allUs, chunks, mostStreams });
  const fast = [mark(100, 50, 40), mark(200, 80, 40), mark(350, 80, 40), mark(900, 10, 40)];
  expect(chunksOf(fast, 40)).toEqual({ chunks: 160, allUs: 250 });
  // It opens one more in the second interval, and the streams end in the one after the third.
  const slow = [mark(100, 50, 39), mark(200, 80, 40), mark(350, 80, 40)];
  expect(chunksOf(slow, 40)).toEqual({ chunks: 80, allUs: 150 });
  expect(chunksOf(slow.slice(0, 1), 40).chunks).toBe(0);
  expect(chunksOf([], 40).chunks).toBe(0);
});
