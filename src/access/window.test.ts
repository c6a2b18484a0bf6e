import { expect, test } from 'bun:test';
import { createWindow } from './window.ts';

const START = 1_700_000_000_000;

test('what was added counts for a minute', () => {
  const window = createWindow();
  expect(window.sum(START)).toBe(0);
  window.add(5);
  window.sum(START + 30_000);
  window.add(7);
  expect(window.sum(START + 60_000)).toBe(12);
  expect(window.sum(START + 61_000)).toBe(7);
  expect(window.sum(START + 90_000)).toBe(7);
  expect(window.sum(START + 91_000)).toBe(0);
  window.add(1);
  expect(window.sum(START + 10_000_000)).toBe(0);
});

test('it says in how many seconds there is room', () => {
  const window = createWindow();
  window.sum(START);
  window.add(5);
  window.sum(START + 20_000);
  window.add(5);
  expect(window.secondsUntil(9)).toBe(41);
  expect(window.secondsUntil(4)).toBe(61);
  expect(window.secondsUntil(-1)).toBe(61);
  expect(window.sum(START + 61_000)).toBe(5);
});

test('a correction goes to its second, and a surplus to the present one when that has left', () => {
  const window = createWindow();
  window.sum(START);
  const second = window.add(100);
  window.sum(START + 10_000);
  window.correct(second, -70);
  expect(window.sum(START + 60_000)).toBe(30);
  expect(window.sum(START + 61_000)).toBe(0);
  window.correct(second, -10);
  expect(window.sum(START + 61_000)).toBe(0);
  window.correct(second, 40);
  expect(window.sum(START + 121_000)).toBe(40);
  expect(window.sum(START + 122_000)).toBe(0);
});

test('a clock that was set back: the window goes on from where it stands', () => {
  const window = createWindow();
  window.sum(START);
  window.add(3);
  expect(window.sum(START - 3_600_000)).toBe(3);
  expect(window.sum(START - 3_600_000 + 60_000)).toBe(3);
  expect(window.sum(START - 3_600_000 + 61_000)).toBe(0);
});
