import { expect, test } from 'bun:test';
import { createWindow } from './window.ts';

const START = 1_700_000_000_000;

test('an event counts for one minute', () => {
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

test('the wait is the time until the window allows the event', () => {
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

test('a correction applies to its own second, and a surplus to the current one if that second has left the window', () => {
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

test('after the clock was set back the window continues from its last time', () => {
  const window = createWindow();
  window.sum(START);
  window.add(3);
  expect(window.sum(START - 3_600_000)).toBe(3);
  expect(window.sum(START - 3_600_000 + 60_000)).toBe(3);
  expect(window.sum(START - 3_600_000 + 61_000)).toBe(0);
});
