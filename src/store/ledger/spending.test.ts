import { expect, test } from 'bun:test';
import { budgetLeft, committed, noSpending, type Spending, spend, turnTo } from './spending.ts';

const at = (text: string) => Date.parse(text);

/** The first spending of a key or account. */
function spent(amount: bigint, time: number): Spending {
  const spending = noSpending();
  spend(spending, amount, time);
  return spending;
}

/** What counts in each window after the windows were turned to this time. */
function turned(spending: Spending, time: number) {
  turnTo(spending, time);
  return committed(spending, time);
}

test('a window ends at its UTC end, and its spending with it', () => {
  const spending = noSpending();
  const [end, begin, next] = [at('2026-01-31T23:59:59Z'), at('2026-02-01T00:00:00Z'), at('2026-02-02T00:00:00Z')];
  spend(spending, 5n, end);
  expect(committed(spending, end)).toEqual({ total: 5n, day: 5n, month: 5n });
  spend(spending, 2n, begin);
  expect(committed(spending, begin)).toEqual({ total: 7n, day: 2n, month: 2n });
  expect(turned(spending, next)).toEqual({ total: 7n, day: 0n, month: 2n });
});

test('a process whose clock is behind has no budget of its own', () => {
  const spending = noSpending();
  const [late, early] = [at('2026-02-28T12:00:00Z'), at('2026-03-01T13:00:00Z')];
  for (let minute = 0; minute < 10; minute++) {
    turnTo(spending, early + minute * 60_000);
    spend(spending, 5n, early + minute * 60_000);
    turnTo(spending, late + minute * 60_000);
    spend(spending, 2n, late + minute * 60_000);
  }
  expect(committed(spending, late)).toEqual({ total: 70n, day: 70n, month: 70n });
  expect(committed(spending, early)).toEqual({ total: 70n, day: 70n, month: 70n });
});

test('windows that a wrong clock opened are reverted within a minute, and no spending of the correct ones is lost', () => {
  const true0 = at('2026-02-28T23:30:00Z');
  const spending = spent(5n, true0);
  // The clock is an hour ahead for 1.5 s, then correct again.
  turnTo(spending, true0 + 3_600_000);
  spend(spending, 2n, true0 + 3_600_000);
  for (const second of [2, 20, 61]) {
    expect(turned(spending, true0 + second * 1000)).toEqual({ total: 7n, day: 7n, month: 7n });
  }
  turnTo(spending, true0 + 63_000);
  spend(spending, 1n, true0 + 63_000);
  expect(committed(spending, true0 + 63_000)).toEqual({ total: 8n, day: 8n, month: 8n });
  // The next day and month start with what was booked on them while the clock was wrong.
  expect(turned(spending, at('2026-03-01T00:00:00Z'))).toEqual({ total: 8n, day: 2n, month: 2n });
});

test('a clock that is a year ahead does not stop the daily windows', () => {
  const noon = at('2026-03-01T12:00:00Z');
  const spending = spent(5n, noon);
  turnTo(spending, at('2027-03-01T12:00:00Z'));
  turnTo(spending, noon + 2000);
  expect(turned(spending, noon + 63_000)).toEqual({ total: 5n, day: 5n, month: 5n });
  expect(turned(spending, at('2026-03-02T00:00:00Z'))).toEqual({ total: 5n, day: 0n, month: 5n });
});

test('spending that ended before the newest windows began is booked there and reverts nothing', () => {
  const midnight = at('2026-03-01T00:00:00Z');
  const spending = spent(5n, midnight);
  for (const minutes of [50, 30, 10, 1]) spend(spending, 1n, midnight - minutes * 60_000);
  expect(committed(spending, midnight)).toEqual({ total: 9n, day: 9n, month: 9n });
});

test('the tightest window limits, and holds count in each window', () => {
  const spending = { ...noSpending(), held: 10n, total: 50n, daySpent: 1n, monthSpent: 20n };
  expect(budgetLeft(spending, {}, 0)).toBeUndefined();
  expect(budgetLeft(spending, { total: 100n, day: 100n, month: 35n }, 0)).toBe(5n);
  expect(budgetLeft(spending, { total: 55n, day: 0n }, 0)).toBe(-11n);
});
