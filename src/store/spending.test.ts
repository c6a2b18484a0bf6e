import { expect, test } from 'bun:test';
import { budgetLeft, committed, noSpending, spend, turnTo } from './spending.ts';

const at = (text: string) => Date.parse(text);

test('a window closes at its UTC end and takes its spending with it', () => {
  const spending = noSpending();
  spend(spending, 5n, at('2026-01-31T23:59:59Z'));
  expect(committed(spending)).toEqual({ total: 5n, day: 5n, month: 5n });
  spend(spending, 2n, at('2026-02-01T00:00:00Z'));
  expect(committed(spending)).toEqual({ total: 7n, day: 2n, month: 2n });
  turnTo(spending, at('2026-02-02T00:00:00Z'));
  expect(committed(spending)).toEqual({ total: 7n, day: 0n, month: 2n });
});

test('a late clock counts in the newest window', () => {
  const spending = noSpending();
  spend(spending, 5n, at('2026-03-01T00:00:00Z'));
  spend(spending, 2n, at('2026-02-28T00:00:00Z'));
  expect(committed(spending)).toEqual({ total: 7n, day: 7n, month: 7n });
});

test('the tightest window decides, holds count in each', () => {
  const spending = { ...noSpending(), held: 10n, total: 50n, daySpent: 1n, monthSpent: 20n };
  expect(budgetLeft(spending, {})).toBeUndefined();
  expect(budgetLeft(spending, { total: 100n, day: 100n, month: 35n })).toBe(5n);
  expect(budgetLeft(spending, { total: 55n, day: 0n })).toBe(-11n);
});
