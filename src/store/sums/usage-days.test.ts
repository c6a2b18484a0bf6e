import { describe, expect, test } from 'bun:test';
import { callRow } from '../../../test/helpers/call-row.ts';
import { freshStore, LEDGER_ENGINES } from '../../../test/helpers/engines.ts';
import type { CallRow, UsageGroup } from '../rows.ts';
import type { Store } from '../store.ts';
import { spansOf } from './usage-spans.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Two days before the clocks change in Europe. */
const START = Date.UTC(2026, 9, 23);
const DAYS = 6;
const NOW = START + DAYS * DAY + 5 * HOUR;

const end = (store: Store, rows: readonly CallRow[]) =>
  store.ledger(rows.map((row) => ({ type: 'resolve', callId: row.id, amount: row.cost, call: row })));

/** The same numbers in each run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

function randomCalls(count: number): CallRow[] {
  const pick = randomNumbers(7);
  return Array.from({ length: count }, (_, index) =>
    callRow({
      id: `call_${index}`,
      at: START + pick(DAYS * DAY),
      account: `acc_${pick(3)}`,
      key: `key_${pick(4)}`,
      model: `m${pick(2)}`,
      provider: `p${pick(2)}`,
      cost: BigInt(pick(1000)),
      saved: BigInt(pick(9)),
      ...(pick(2) === 0 && { providerCost: BigInt(pick(500)) }),
      ...(pick(3) === 0 && { tags: pick(2) === 0 ? ['a'] : ['a', 'b'] }),
      usage: { input: pick(100), output: pick(100), source: 'reported' },
    }),
  );
}

/** When the days begin, in hours before midnight in UTC. The clocks change on 25 October in Europe: that day has 25 hours. */
const ZONES: { readonly [zone: string]: (day: number) => number } = {
  UTC: () => 0,
  'Europe/Berlin': (day) => (day > 2 ? 1 : 2),
  'America/Los_Angeles': () => -7,
  'Asia/Kathmandu': () => 5.75,
};

const periodsIn = (hoursBefore: (day: number) => number, from: number, to: number): number[] =>
  Array.from({ length: DAYS + 2 }, (_, day) => START + day * DAY - hoursBefore(day) * HOUR).filter(
    (at) => at > from && at < to,
  );
const GROUPS: readonly UsageGroup[][] = [[], ['model'], ['account', 'key'], ['provider'], ['tag', 'model']];

/** Reports of many kinds: by zone, groups, filters and ends. */
async function reportsOf(store: Store): Promise<{ [name: string]: object }> {
  const reports: { [name: string]: object } = {};
  for (const [from, to] of [
    [START, NOW],
    [START + 13 * HOUR + 1, NOW - 2 * DAY - 7],
  ] as const) {
    for (const [number, [zone, hoursBefore]] of Object.entries(ZONES).entries()) {
      const periods = periodsIn(hoursBefore, from, to);
      // Every second kind, another half for each zone.
      for (const groupBy of GROUPS.filter((_, index) => (index + number) % 2 === 0))
        reports[`${zone} ${groupBy} ${from}`] = await store.usage({ from, to, groupBy, periods });
    }
    reports[`whole ${from}`] = await store.usage({ from, to, groupBy: ['model', 'provider'] });
    reports[`one ${from}`] = await store.usage({ from, to, groupBy: [], account: 'acc_1', provider: 'p1' });
  }
  return reports;
}

describe.each(LEDGER_ENGINES)('$name', (engine) => {
  test('reports are the same from sums of days, in every zone, also after late calls', async () => {
    const { store, tamper } = await freshStore(engine);
    for (const id of ['acc_0', 'acc_1', 'acc_2'])
      await store.createAccount({ id, name: id, balance: 0n, held: 0n, createdAt: START });
    const calls = randomCalls(400);
    await end(store, calls);
    const fromHours = await reportsOf(store);
    await store.tidy(NOW);
    expect(await reportsOf(store)).toEqual(fromHours);
    // The days are in fact read: without them the figures of whole days are missing.
    await tamper('DELETE FROM usage_days');
    expect(await store.usage({ from: START, to: START + DAYS * DAY, groupBy: [] })).toEqual([]);
    await tamper('UPDATE usage_days_done SET done = 0');
    await store.tidy(NOW);
    expect(await reportsOf(store)).toEqual(fromHours);

    // A call that is recorded late, and one that a process assumed dead settles after all.
    const late = callRow({ id: 'late', at: START + DAY + 5, account: 'acc_1', cost: 77n, provider: 'p1', tags: ['b'] });
    const lost = callRow({ id: 'lost', at: START + 2 * DAY + 5, cost: 5n, provisional: true });
    await end(store, [late, lost]);
    const whole = { from: START, to: NOW, groupBy: [] as UsageGroup[] };
    expect(await store.usage(whole)).toMatchObject([{ calls: calls.length + 2 }]);
    await store.tidy(NOW);
    const { provisional: _, ...settled } = lost;
    await end(store, [{ ...settled, cost: 9n, tags: ['a'] }]);
    const before = await reportsOf(store);
    await store.tidy(NOW);
    expect(await reportsOf(store)).toEqual(before);
    await tamper('UPDATE usage_days_done SET done = 0');
    expect(await reportsOf(store)).toEqual(before);

    // What an older program records is in the hourly sums of no provider.
    await tamper("DELETE FROM usage_sums WHERE provider = 'p0' AND tag = '' AND key <> 'key_1'");
    const older = await reportsOf(store);
    await store.tidy(NOW);
    expect(await reportsOf(store)).toEqual(older);
    await store.close();
  });
});

describe('the sums that make up a report', () => {
  const span = (first: number, next: number, period: number, minus?: number) => ({
    first,
    next,
    period,
    ...(minus !== undefined && { minus }),
  });

  test('of whole days are days', () => {
    expect(spansOf([24, 72], [1, 2])).toEqual({ days: [span(1, 3, 0)], hours: [] });
  });

  test('at the ends are hours, as are days that are not summed', () => {
    expect(spansOf([20, 100], [0, 1, 3])).toEqual({
      days: [span(1, 2, 0), span(3, 4, 0)],
      hours: [span(20, 24, 0), span(48, 72, 0), span(96, 100, 0)],
    });
  });

  test('of days of another zone take hours from a day and add them to the next', () => {
    expect(spansOf([22, 46, 70], [0, 1, 2])).toEqual({
      days: [span(1, 2, 0)],
      hours: [span(22, 24, 0), span(46, 48, 1, 0), span(48, 70, 1)],
    });
  });

  test('count each hour once in its period, whatever the days', () => {
    const pick = randomNumbers(11);
    for (let round = 0; round < 300; round++) {
      const bounds = [pick(50)];
      for (let count = 1 + pick(6); count > 0; count--) bounds.push(bounds.at(-1)! + 1 + pick(40));
      const done = Array.from({ length: 12 }, (_, day) => day).filter(() => pick(3) > 0);
      const counts = new Map<string, number>();
      const count = (hour: number, period: number, by: number) =>
        counts.set(`${hour} ${period}`, (counts.get(`${hour} ${period}`) ?? 0) + by);
      const { days, hours } = spansOf(bounds, done);
      for (const { first, next, period } of days)
        for (let hour = first * 24; hour < next * 24; hour++) count(hour, period, 1);
      for (const { first, next, period, minus } of hours) {
        for (let hour = first; hour < next; hour++) {
          count(hour, period, 1);
          if (minus !== undefined) count(hour, minus, -1);
        }
      }
      const wanted = bounds
        .slice(1)
        .flatMap((bound, period) =>
          Array.from(
            { length: bound - bounds[period]! },
            (_, index) => [`${bounds[period]! + index} ${period}`, 1] as const,
          ),
        );
      expect(new Map([...counts].filter(([, times]) => times !== 0))).toEqual(new Map(wanted));
    }
  });
});
