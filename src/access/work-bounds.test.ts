import { expect, test } from 'bun:test';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryBudget } from './memory-budget.ts';
import { createWorkBounds, type Load, type WorkSettings } from './work-bounds.ts';

const MB = 1024 * 1024;
let time = 0;
const open = (more: Partial<WorkSettings> = {}) =>
  createWorkBounds({
    accountCalls: 3,
    accountBytes: 10 * MB,
    memoryBytes: 256 * MB,
    usedBytes: () => 100 * MB,
    collect() {},
    clock: () => time,
    ...more,
  });
const limited = expect.objectContaining({ code: 'rate_limited', status: 429, retryAfterSeconds: 1 });
const overloaded = expect.objectContaining({ code: 'overloaded', status: 503, retryAfterSeconds: 1 });

test('concurrent calls of an account are bounded, and an ended call frees its place once', () => {
  const work = open();
  const loads = [1, 2, 3].map(() => work.enter('a', 0));
  expect(() => work.enter('a', 0)).toThrow(limited);
  work.enter('b', 0);
  loads[0]?.end();
  loads[0]?.end();
  work.enter('a', 0);
  expect(() => work.enter('a', 0)).toThrow(limited);
});

test('bytes of an account are bounded, with or without content-length; a single request gets what it needs', () => {
  const work = open();
  const first = work.enter('a', 30 * MB);
  expect(() => work.enter('a', 1)).toThrow(limited);
  first.end();
  const second = work.enter('a', 6 * MB);
  const third = work.enter('a', 0);
  third.take(4 * MB);
  expect(() => third.take(1)).toThrow(limited);
  second.give(MB);
  third.take(MB);
  work.enter('b', 10 * MB);
});

test('the bodies of all accounts must fit into the free memory, with their weight', () => {
  const work = open({ accountBytes: 1000 * MB });
  const loads: Load[] = [];
  // Each takes 20 MB of 128 MB.
  for (let i = 0; i < 6; i++) loads.push(work.enter(`a${i}`, 5 * MB));
  expect(() => work.enter('b', 5 * MB)).toThrow(overloaded);
  work.enter('c', 0);
  expect(() => loads[0]?.take(5 * MB)).toThrow(overloaded);
  loads[1]?.end();
  work.enter('b', 5 * MB);
  // A response in memory is counted and keeps other requests out.
  loads[2]?.count(100 * MB);
  expect(() => work.enter('d', 1)).toThrow(overloaded);
});

test('a refused request leaves no count behind', () => {
  const work = open();
  work.enter('x', 30 * MB);
  for (let i = 0; i < 100; i++) expect(() => work.enter('a', 5 * MB)).toThrow(overloaded);
  for (let i = 0; i < 3; i++) work.enter('a', 0);
});

test('above the memory limit only a single call is admitted, and garbage collection is requested at intervals', () => {
  let used = 300 * MB;
  let collected = 0;
  const work = open({ usedBytes: () => used, collect: () => void collected++ });
  const only = work.enter('a', 5 * MB);
  for (let i = 0; i < 10; i++) expect(() => work.enter('b', 0)).toThrow(overloaded);
  expect(collected).toBe(1);
  used = 200 * MB;
  time += 50;
  expect(() => work.enter('b', 0)).toThrow(overloaded);
  time += 50;
  work.enter('b', 0);
  only.end();
});

test("the container's memory limit applies if it is lower than the machine's memory", () => {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-memory-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const none = file('none', 'max\n');
  const some = file('some', `${512 * MB}\n`);
  const endless = file('endless', '9223372036854771712\n');
  expect(memoryBudget(0, 1, [none, join(folder, 'absent')], 1000 * MB)).toBe(750 * MB);
  expect(memoryBudget(0, 2, [some], 1000 * MB)).toBe(192 * MB);
  expect(memoryBudget(0, 1, [endless], 1000 * MB)).toBe(750 * MB);
  expect(memoryBudget(300 * MB, 4, [some], 1000 * MB)).toBe(300 * MB);
});
