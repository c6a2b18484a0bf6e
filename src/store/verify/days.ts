/** Verifies the sums of whole days against the hourly sums that they are made of. */
import { HOUR_MS } from '../../canonical/time.ts';
import { HOURS_PER_DAY } from '../sums/usage-days.ts';
import type { Verification } from './books-reader.ts';
import type { HourTotals } from './checkpoint.ts';
import type { VerifiedHours } from './hours.ts';
import type { SumLine } from './sums-reader.ts';
import { differencesOf, nameOfSum } from './wrong-sum.ts';

/** A day is summed some time after its hours may have been verified. */
const NEWEST_DAYS = 2;

/**
 * All days in full; otherwise those whose hours were read now, whose totals are not those of their hours, and the newest. A day of which an hour
 * is wrong has no right sum. `totals`: of all hours, read before them.
 */
export async function verifyDays(
  verification: Verification,
  totals: readonly HourTotals[],
  { windows, wrong }: VerifiedHours,
): Promise<void> {
  const { books, full } = verification;
  const ofHours = new Map<number, { calls: number; cost: bigint }>();
  for (const { hour, calls, cost } of totals) {
    const day = Math.floor(hour / HOURS_PER_DAY);
    const sum = ofHours.get(day) ?? { calls: 0, cost: 0n };
    ofHours.set(day, { calls: sum.calls + calls, cost: sum.cost + cost });
  }
  const days = await books.days();
  const newest = (days.at(-1)?.day ?? 0) - NEWEST_DAYS;
  const wrongDays = new Set([...wrong].map((hour) => Math.floor(hour / HOURS_PER_DAY)));
  const isRead = (day: number) =>
    windows.some(({ from, to }) => from < (day + 1) * HOURS_PER_DAY && to > day * HOURS_PER_DAY);
  for (const { day, calls, cost } of days) {
    const sum = ofHours.get(day) ?? { calls: 0, cost: 0n };
    if (wrongDays.has(day)) continue;
    const isSame = sum.calls === calls && sum.cost === cost;
    if (full || day > newest || !isSame || isRead(day)) await verifyDay(verification, day);
  }
}

async function verifyDay(verification: Verification, day: number): Promise<void> {
  for (const line of await verification.books.day(day)) {
    const lacking = await olderCallsOf(verification, day, line);
    if (lacking > 0) {
      verification.older.notInDay += lacking;
      continue;
    }
    const { account, key, model } = line;
    const date = new Date(day * HOURS_PER_DAY * HOUR_MS).toISOString().slice(0, '2026-01-01'.length);
    const fault = `The ${nameOfSum(line)} on ${date} is wrong: ${differencesOf(line)}.`;
    verification.findings.add('usage-day', fault, { account, key, model, day });
  }
}

/** How many calls the sum lacks, if a release without sums of days can have recorded them after the day was summed; otherwise 0. */
async function olderCallsOf({ books, keptFrom }: Verification, day: number, line: SumLine): Promise<number> {
  const { provider, tag, wrong } = line;
  const { calls } = wrong;
  if (provider !== '' || tag !== '' || !calls) return 0;
  // What caches save may be below zero.
  if (Object.entries(wrong).some(([column, { made, kept }]) => column !== 'saved' && made < kept)) return 0;
  const lacking = Number(calls.made - calls.kept);
  // The rows of removed calls are gone, and with them which release recorded them.
  if (day * HOURS_PER_DAY * HOUR_MS < keptFrom) return lacking;
  const older = await books.olderCalls(line, day * HOURS_PER_DAY, (day + 1) * HOURS_PER_DAY);
  return lacking <= older ? lacking : 0;
}
