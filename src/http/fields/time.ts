/** Times in requests and responses. */
import { type Static, Type } from 'typebox';
import { GatewayError } from '../../canonical/errors.ts';

const A_TIME = 'a time in ISO 8601, such as "2027-01-31T12:00:00Z", or in seconds since 1970';

export const Time = Type.String({ format: 'date-time' });
export const TimeInput = Type.Union([Type.String(), Type.Number()], { description: A_TIME });
export type TimeInput = Static<typeof TimeInput>;

/** The largest time that a JavaScript Date can hold. */
const LAST_TIME = 8.64e15;
/** Numbers below this are seconds (until the year 3110), numbers above are milliseconds (since 1971). */
const FIRST_MILLISECONDS = 36_000_000_000;

/** Milliseconds since 1970. */
export function timeOf(value: TimeInput, param: string): number {
  const number = typeof value === 'number' ? value : /^\d+$/.test(value) ? Number(value) : undefined;
  const given = number === undefined ? Date.parse(String(value)) : number < FIRST_MILLISECONDS ? number * 1000 : number;
  const time = Math.round(given);
  if (time >= 0 && time <= LAST_TIME && !isNoDay(value)) return time;
  throw new GatewayError('invalid_request', `"${param}" must be ${A_TIME}.`, { param });
}

/** The 30th of February would be read as the 2nd of March. */
function isNoDay(value: TimeInput): boolean {
  const [date] = /^\d{4}-\d\d-\d\d/.exec(String(value)) ?? [];
  return date !== undefined && new Date(Date.parse(date)).toISOString().slice(0, date.length) !== date;
}

export const writeTime = (time: number): string => new Date(time).toISOString();
