/** Days in a time zone by its IANA name. */

const QUARTER_MS = 900_000;
/** Every day ends within this time of its beginning. */
const LONGEST_DAY_QUARTERS = 4 * 26;

export interface TimeZone {
  /** The date of a time: `2026-05-05`. */
  dateOf(time: number): string;
  /** A time with its offset: `2026-05-05T13:00:00+02:00`. */
  write(time: number): string;
  /** The beginning of the day of this date. */
  startOf(date: string): number;
  /** The beginnings of the days after `from` and before `to`; `undefined` if there are more than `limit`. */
  daysWithin(from: number, to: number, limit: number): number[] | undefined;
}

/** `undefined` if there is no zone of this name. */
export function timeZone(name: string): TimeZone | undefined {
  const format = formatOf(name);
  if (!format) return undefined;

  /** The local time as if it were UTC. */
  function localOf(time: number): number {
    const part: { [type: string]: string } = {};
    for (const { type, value } of format!.formatToParts(time)) part[type] = value;
    const { year, month, day, hour, minute } = part;
    return Date.parse(`${year}-${month}-${day}T${hour}:${minute}Z`);
  }
  const dateOf = (time: number) => new Date(localOf(time)).toISOString().slice(0, 10);

  /** Offsets of all zones change at quarters of an hour. */
  function nextDay(time: number): number {
    const today = dateOf(time);
    let before = Math.floor(time / QUARTER_MS);
    let after = before + LONGEST_DAY_QUARTERS;
    while (after - before > 1) {
      const middle = (before + after) >> 1;
      if (dateOf(middle * QUARTER_MS) === today) before = middle;
      else after = middle;
    }
    return after * QUARTER_MS;
  }

  // Formatting takes microseconds, and a report has the same times in many lines.
  return {
    dateOf: remembered(dateOf),
    write: remembered((time) => {
      const minute = Math.floor(time / 60_000) * 60_000;
      const minutes = Math.round((localOf(time) - minute) / 60_000);
      const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
      const offset = `${minutes < 0 ? '-' : '+'}${twoDigits(hours)}:${twoDigits(rest)}`;
      return `${new Date(minute + minutes * 60_000).toISOString().slice(0, 19)}${minutes === 0 ? 'Z' : offset}`;
    }),
    startOf(date) {
      // No zone is further from UTC than this.
      let start = Math.max(0, Date.parse(date) - LONGEST_DAY_QUARTERS * QUARTER_MS);
      while (dateOf(start) < date) start = nextDay(start);
      return start;
    },
    daysWithin(from, to, limit) {
      const days: number[] = [];
      for (let day = nextDay(from); day < to; day = nextDay(day)) {
        if (days.push(day) > limit) return undefined;
      }
      return days;
    },
  };
}

function remembered(write: (time: number) => string): (time: number) => string {
  const known = new Map<number, string>();
  return (time) => {
    let text = known.get(time);
    if (text === undefined) {
      text = write(time);
      known.set(time, text);
    }
    return text;
  };
}

const twoDigits = (value: number): string => String(value).padStart(2, '0');

function formatOf(name: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-CA', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
  } catch {
    return undefined;
  }
}
