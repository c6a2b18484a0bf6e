/** What a key has spent and holds, and what its budget leaves: per UTC day, per UTC month and in all. */
import type { Money } from '../canonical/money.ts';
import type { Budget } from './store.ts';

const DAY_MS = 86_400_000;

/** `day` and `month` count from 1970 and name the windows that `daySpent` and `monthSpent` belong to. */
export interface Spending {
  held: Money;
  total: Money;
  day: number;
  daySpent: Money;
  month: number;
  monthSpent: Money;
}

export function noSpending(): Spending {
  return { held: 0n, total: 0n, day: 0, daySpent: 0n, month: 0, monthSpent: 0n };
}

/** Opens the windows `at` lies in. Never turns back: what a late clock reports counts in the newest window known. */
export function turnTo(spending: Spending, at: number): void {
  const day = Math.floor(at / DAY_MS);
  if (day <= spending.day) return;
  spending.day = day;
  spending.daySpent = 0n;
  const month = monthOf(at);
  if (month <= spending.month) return;
  spending.month = month;
  spending.monthSpent = 0n;
}

/** Books a charge into the windows its time lies in. */
export function spend(spending: Spending, amount: Money, at: number): void {
  turnTo(spending, at);
  spending.total += amount;
  spending.daySpent += amount;
  spending.monthSpent += amount;
}

/** Books what is spent more, or less, than was booked at `before`: less only in the windows in which it was booked. */
export function spendMore(spending: Spending, difference: Money, before: number, at: number): void {
  turnTo(spending, at);
  spending.total += difference;
  if (difference > 0n || Math.floor(before / DAY_MS) === spending.day) spending.daySpent += difference;
  if (difference > 0n || monthOf(before) === spending.month) spending.monthSpent += difference;
}

function monthOf(at: number): number {
  const date = new Date(at);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

/** Spent and held together, per window. Money on hold counts in every window: it may be spent in any. */
export function committed(spending: Spending): Required<Budget> {
  return {
    total: spending.total + spending.held,
    day: spending.daySpent + spending.held,
    month: spending.monthSpent + spending.held,
  };
}

/** What the tightest window of the budget leaves; `undefined` where the budget sets none. */
export function budgetLeft(spending: Spending, budget: Budget): Money | undefined {
  const used = committed(spending);
  let left: Money | undefined;
  for (const window of ['total', 'day', 'month'] as const) {
    const limit = budget[window];
    if (limit !== undefined && (left === undefined || limit - used[window] < left)) left = limit - used[window];
  }
  return left;
}
