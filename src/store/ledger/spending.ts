/** Spending and holds of a key, and what its budget leaves: per UTC day, per UTC month, and in total. */

import type { Money } from '../../canonical/money.ts';
import { DAY_MS } from '../../canonical/time.ts';
import type { Budget } from '../rows.ts';

/** If no other clock confirms a newly opened window within this time, the clock that opened it was wrong. */
const DOUBTED_MS = 60_000;

/**
 * `day` and `month` count from 1970 and identify the windows of `daySpent` and `monthSpent`: the newest that any process's clock has
 * opened. The `prior` members are the windows before them. `lateSince`: since when all clocks were in an older day and none in the newest;
 * 0 if that is not so.
 */
export interface Spending {
  held: Money;
  total: Money;
  day: number;
  daySpent: Money;
  month: number;
  monthSpent: Money;
  priorDay: number;
  priorDaySpent: Money;
  priorMonth: number;
  priorMonthSpent: Money;
  lateSince: number;
}

export function noSpending(): Spending {
  const prior = { priorDay: 0, priorDaySpent: 0n, priorMonth: 0, priorMonthSpent: 0n };
  return { held: 0n, total: 0n, day: 0, daySpent: 0n, month: 0, monthSpent: 0n, ...prior, lateSince: 0 };
}

/**
 * Opens the windows of the time `at`, read from any process's clock. A clock that is behind is not accepted at once: otherwise a slow
 * process would have a budget of its own. If no clock was in the newest day for a minute, the windows are reverted, and their spending is
 * added to the correct ones. Returns whether anything has changed.
 */
export function turnTo(spending: Spending, at: number): boolean {
  const day = dayOf(at);
  if (day > spending.day) return turnOn(spending, at);
  if (day === spending.day) {
    if (spending.lateSince === 0) return false;
    spending.lateSince = 0;
    return true;
  }
  if (spending.lateSince === 0) spending.lateSince = at;
  else if (at - spending.lateSince > DOUBTED_MS) turnBack(spending, at);
  else return false;
  return true;
}

/** Opens newer windows: empty ones, or those that were reverted earlier. */
function turnOn(spending: Spending, at: number): true {
  const day = dayOf(at);
  const daySpent = day === spending.priorDay ? spending.priorDaySpent : 0n;
  Object.assign(spending, { priorDay: spending.day, priorDaySpent: spending.daySpent, day, daySpent, lateSince: 0 });
  const month = monthOf(at);
  if (month <= spending.month) return true;
  const monthSpent = month === spending.priorMonth ? spending.priorMonthSpent : 0n;
  Object.assign(spending, { priorMonth: spending.month, priorMonthSpent: spending.monthSpent, month, monthSpent });
  return true;
}

function turnBack(spending: Spending, at: number): void {
  const { day: daySpent, month: monthSpent } = spentAt(spending, at);
  const { day: priorDay, daySpent: priorDaySpent } = spending;
  Object.assign(spending, { priorDay, priorDaySpent, day: dayOf(at), daySpent, lateSince: 0 });
  const month = monthOf(at);
  if (month === spending.month) return;
  const { month: priorMonth, monthSpent: priorMonthSpent } = spending;
  Object.assign(spending, { priorMonth, priorMonthSpent, month, monthSpent });
}

/** Adds a charge to the windows of its time, or to the newest windows if it ended before they began. */
export function spend(spending: Spending, amount: Money, at: number): void {
  if (dayOf(at) > spending.day) turnOn(spending, at);
  spending.total += amount;
  spending.daySpent += amount;
  spending.monthSpent += amount;
}

/** Corrects an earlier charge of the time `before`. A negative difference applies only to the windows that contain the charge. */
export function spendMore(spending: Spending, difference: Money, before: number, at: number): void {
  if (dayOf(at) > spending.day) turnOn(spending, at);
  spending.total += difference;
  if (difference > 0n || dayOf(before) === spending.day) spending.daySpent += difference;
  if (difference > 0n || monthOf(before) === spending.month) spending.monthSpent += difference;
}

const dayOf = (at: number) => Math.floor(at / DAY_MS);

function monthOf(at: number): number {
  const date = new Date(at);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

/** Spending in the windows of `at`. If a newer window is open, the sum of both: one of the two clocks is wrong. */
function spentAt(spending: Spending, at: number): { day: Money; month: Money } {
  const { daySpent, monthSpent, priorDaySpent, priorMonthSpent } = spending;
  const day = dayOf(at);
  const month = monthOf(at);
  return {
    day: day < spending.day && day === spending.priorDay ? daySpent + priorDaySpent : daySpent,
    month: month < spending.month && month === spending.priorMonth ? monthSpent + priorMonthSpent : monthSpent,
  };
}

/** Spent plus held in each window of `at`. A hold counts in every window, because it may be spent in any. */
export function committed(spending: Spending, at: number): Required<Budget> {
  const { day, month } = spentAt(spending, at);
  return { total: spending.total + spending.held, day: day + spending.held, month: month + spending.held };
}

/** What the tightest window of the budget leaves, or `undefined` if there is no budget. */
export function budgetLeft(spending: Spending, budget: Budget, at: number): Money | undefined {
  const used = committed(spending, at);
  let left: Money | undefined;
  for (const window of ['total', 'day', 'month'] as const) {
    const limit = budget[window];
    if (limit !== undefined && (left === undefined || limit - used[window] < left)) left = limit - used[window];
  }
  return left;
}
