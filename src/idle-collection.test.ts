import { expect, test } from 'bun:test';
import { createIdleCollection } from './idle-collection.ts';

function start() {
  const state = { active: 0, processorMs: 0, collections: 0 };
  const look = createIdleCollection({
    active: () => state.active,
    processorMs: () => state.processorMs,
    collect() {
      state.collections++;
      state.processorMs += 25;
    },
  });
  /** A second in which so much is worked. */
  const second = (workMs: number, active = 0) => {
    state.processorMs += workMs;
    state.active = active;
    look();
    return state.collections;
  };
  return second;
}

test('a process that has worked much and is idle collects once', () => {
  const second = start();
  for (let n = 0; n < 5; n++) expect(second(1000)).toBe(0);
  expect(second(10)).toBe(1);
  for (let n = 0; n < 100; n++) expect(second(10)).toBe(1);
  for (let n = 0; n < 3; n++) expect(second(1000)).toBe(1);
  expect(second(10)).toBe(2);
});

test('open calls are not delayed, however little they do', () => {
  const second = start();
  second(5000, 32);
  for (let n = 0; n < 10; n++) expect(second(100, 500)).toBe(0);
  expect(second(10)).toBe(1);
});

test('bursts with little work do not make it collect each time', () => {
  const second = start();
  for (let n = 0; n < 20; n++) {
    second(300);
    expect(second(0)).toBe(Math.floor((n + 1) / 9));
  }
});
