/** Dates without a time. */
import { cached } from './numbers.ts';

/** The last second of a day that was chosen (`2026-11-30`), where the reader is: what expires on a day works on it. */
export function endOfDay(day: string): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date, 23, 59, 59);
}

export function dateOf(at: string | number): string {
  return cached(
    'date',
    (locale) => new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short', day: 'numeric' }),
  ).format(new Date(at));
}
