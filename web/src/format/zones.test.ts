/** Days and times for readers in other time zones, each in a process of its own: a process keeps its zone. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';

const NUMBERS = JSON.stringify(join(import.meta.dirname, 'numbers.ts'));
const SUMS = JSON.stringify(join(import.meta.dirname, '../pages/overview/sums.ts'));
const DATES = JSON.stringify(join(import.meta.dirname, 'dates.ts'));
const BUCKETS_OF = JSON.stringify(join(import.meta.dirname, '../pages/home/buckets.ts'));

/** What the expressions are in that zone. */
function inZone(zone: string, expressions: readonly string[]): unknown[] {
  const script = `
    import { dayOf, utcDayOf, fullTime } from ${NUMBERS};
    import { dateOf, endOfDay } from ${DATES};
    import { writingOf } from ${SUMS};
    import { fillBuckets } from ${BUCKETS_OF};
    const day = 86_400_000;
    console.log(JSON.stringify([${expressions.join(', ')}]));`;
  const env = { ...process.env, TZ: zone, LANG: 'en_US.UTF-8' };
  const { stdout, stderr } = Bun.spawnSync([process.execPath, '-e', script], { env, cwd: import.meta.dirname });
  if (stdout.length === 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
}

/** The clocks of New York go back at 06:00 UTC on 1 November 2026, and forward at 07:00 UTC on 8 March. */
const EXPRESSIONS = [
  `endOfDay('2026-11-01').toISOString()`,
  `endOfDay('2026-03-08').toISOString()`,
  `dateOf(endOfDay('2026-11-30').toISOString())`,
  `dateOf(endOfDay('2026-12-31').toISOString())`,
  `utcDayOf('2026-11-01')`,
  `writingOf(86400, '30d').writeTime(Date.parse('2026-11-22'))`,
  `writingOf(86400, '30d').writeAxis(Date.parse('2026-03-08'))`,
  `writingOf(3600, '7d').writeAxis(Date.parse('2026-11-22T23:30:00Z'))`,
  `writingOf(3600, '24h').writeAxis(Date.parse('2026-11-22T05:00:00Z'))`,
  // Days of 23 and 25 hours: the gateway's have 24.
  `fillBuckets([], Date.parse('2026-10-31T12:00Z'), Date.parse('2026-11-03T12:00Z'), day).map(({ at }) => utcDayOf(at))`,
  `fillBuckets([{ group: '2026-11-01', cost: '1', calls: 2 }], Date.parse('2026-11-01'), Date.parse('2026-11-01'), day)[0].calls`,
];

const OF_THE_GATEWAY = ['Nov 1', 'Nov 22 (UTC)', 'Mar 8'];
const BUCKETS = [['Oct 31', 'Nov 1', 'Nov 2', 'Nov 3'], 2];

test.each([
  ['America/New_York', '2026-11-02T04:59:59.000Z', '2026-03-09T03:59:59.000Z', 'Nov 22', '00:00'],
  ['Asia/Kolkata', '2026-11-01T18:29:59.000Z', '2026-03-08T18:29:59.000Z', 'Nov 23', '10:30'],
  ['Pacific/Kiritimati', '2026-11-01T09:59:59.000Z', '2026-03-08T09:59:59.000Z', 'Nov 23', '19:00'],
  ['UTC', '2026-11-01T23:59:59.000Z', '2026-03-08T23:59:59.000Z', 'Nov 22', '05:00'],
])(
  "in %s a chosen day is the reader's own, and a day of the sums is the same everywhere",
  (zone, autumn, spring, evening, morning) => {
    expect(inZone(zone, EXPRESSIONS)).toEqual([
      ...[autumn, spring, 'Nov 30, 2026', 'Dec 31, 2026'],
      ...[...OF_THE_GATEWAY, evening, morning, ...BUCKETS],
    ]);
  },
);
