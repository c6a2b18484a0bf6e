import { describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { callRow } from '../../../test/helpers/call-row.ts';
import { ENGINES, freshStore } from '../../../test/helpers/engines.ts';
import { hasPostgres } from '../../../test/helpers/postgres.ts';
import type { Database, Statement } from '../database.ts';
import type { CallRow } from '../rows.ts';
import type { Store } from '../store.ts';
import { usageTable } from './usage-table.ts';

const NOON = Date.UTC(2026, 4, 5, 12);
const HUGE = 9_007_199_254_740_993n; // too large for a JavaScript number

const NO_COSTS = { providerCost: 0n, costedCalls: 0, costedCharge: 0n };

const call = (id: string, more: Partial<CallRow> = {}): CallRow => callRow({ id, at: NOON, ...more });

describe.each(ENGINES)('$name', (engine) => {
  test('usage by day, model and key', async () => {
    const { store } = await freshStore(engine);
    await store.createAccount({ id: 'acc_1', name: 'acc_1', balance: 0n, held: 0n, createdAt: NOON });
    const usage = { input: 10, output: 4, source: 'reported' } as const;
    const steps = [
      call('a', { cost: 5n, usage, saved: 3n }),
      call('b', { cost: HUGE, usage, at: NOON + 86_400_000, saved: -HUGE }),
      call('c', { model: 'n', key: 'key_2' }),
      call('late', { at: NOON + 9 * 86_400_000, saved: 8n }),
    ].map((row) => ({ type: 'resolve' as const, callId: row.id, amount: row.cost, call: row }));
    await store.ledger(steps);
    const range = { account: 'acc_1', from: NOON, to: NOON + 2 * 86_400_000 };
    const sum = (group: object, calls: number, cost: bigint, reported: number, saved: bigint) => ({
      ...group,
      calls,
      cost,
      inputTokens: 10 * reported,
      outputTokens: 4 * reported,
      saved,
      ...NO_COSTS,
    });
    const DAY = 86_400_000;
    const MAY_6 = Date.parse('2026-05-06');
    const days = { groupBy: [], periods: [MAY_6, MAY_6 + DAY] };
    expect(await store.usage({ ...range, ...days })).toEqual([
      sum({ period: NOON }, 2, 5n, 1, 3n),
      sum({ period: MAY_6 }, 1, HUGE, 1, -HUGE),
    ]);
    expect(await store.usage({ ...range, groupBy: ['model'] })).toEqual([
      sum({ model: 'm' }, 2, HUGE + 5n, 2, 3n - HUGE),
      sum({ model: 'n' }, 1, 0n, 0, 0n),
    ]);
    expect(await store.usage({ ...range, groupBy: [] })).toEqual([sum({}, 3, HUGE + 5n, 2, 3n - HUGE)]);
    expect(await store.usage({ ...range, to: NOON + 1, groupBy: ['key', 'hour'], model: 'n' })).toEqual([
      sum({ key: 'key_2', hour: NOON }, 1, 0n, 0, 0n),
    ]);
    expect(await store.usage({ ...range, groupBy: [], account: 'acc_2' })).toEqual([]);
    // A part of an hour is summed from its calls, at the ends and between two periods.
    const fromB = sum({ model: 'm' }, 1, HUGE, 1, -HUGE);
    expect(await store.usage({ ...range, from: NOON + 1, groupBy: ['model'] })).toEqual([fromB]);
    for (const period of [NOON + 1, NOON + DAY - 1, NOON + DAY]) {
      const [first, second] = await store.usage({ ...range, groupBy: [], periods: [period] });
      expect(first).toEqual(sum({ period: NOON }, 2, 5n, 1, 3n));
      expect(second).toEqual(sum({ period }, 1, HUGE, 1, -HUGE));
    }
    const ends = { from: NOON, to: NOON + DAY + 2, groupBy: [], periods: [NOON + DAY + 1] };
    expect(await store.usage({ ...ends, account: 'acc_1' })).toEqual([
      sum({ period: NOON }, 3, HUGE + 5n, 2, 3n - HUGE),
    ]);
    expect((await store.call('a'))?.saved).toBe(3n);
    expect(await store.call('c')).not.toHaveProperty('saved');
    expect((await store.verify()).faults).toEqual([]);
    expect(await store.usage({ ...range, groupBy: ['key'] })).toHaveLength(2);
    await store.close();
  });

  test('usage by provider and tag, with what providers charge', async () => {
    const { store, tamper } = await freshStore(engine);
    await store.createAccount({ id: 'acc_1', name: 'acc_1', balance: 0n, held: 0n, createdAt: NOON });
    const end = (row: CallRow) => store.ledger([{ type: 'resolve', callId: row.id, amount: row.cost, call: row }]);
    await end(call('a', { provider: 'one', cost: 9n, providerCost: 5n, tags: ['x', 'y'] }));
    await end(call('b', { provider: 'one', cost: 7n, at: NOON + 1 }));
    await end(call('c', { provider: 'two', cost: 3n, providerCost: 4n, tags: ['y'], at: NOON + 2 }));
    await end(call('d', { provider: 'two', cost: 2n, providerCost: 0n, provisional: true }));
    // The owner of the call was alive: another provider had answered.
    await end(call('d', { provider: 'one', cost: 8n, providerCost: 6n, tags: ['x'] }));
    const range = { from: NOON, to: NOON + 3_600_000 };
    const sum = (
      group: object,
      calls: number,
      cost: bigint,
      [providerCost, costedCalls, costedCharge] = [0n, 0, 0n],
    ) => ({
      ...group,
      ...{ calls, cost, inputTokens: 0, outputTokens: 0, saved: 0n, providerCost, costedCalls, costedCharge },
    });
    const [ONE, TWO] = [{ provider: 'one' }, { provider: 'two' }];
    expect(await store.usage({ ...range, groupBy: ['provider'] })).toEqual([
      sum(ONE, 3, 24n, [11n, 2, 17n]),
      sum(TWO, 1, 3n, [4n, 1, 3n]),
    ]);
    expect(await store.usage({ ...range, groupBy: [] })).toEqual([sum({}, 4, 27n, [15n, 3, 20n])]);
    expect(await store.usage({ ...range, groupBy: ['tag', 'model'] })).toEqual([
      sum({ tag: 'x', model: 'm' }, 2, 17n, [11n, 2, 17n]),
      sum({ tag: 'y', model: 'm' }, 2, 12n, [9n, 2, 12n]),
    ]);
    expect(await store.usage({ ...range, groupBy: ['provider', 'tag'], tag: 'y' })).toEqual([
      sum({ ...ONE, tag: 'y' }, 1, 9n, [5n, 1, 9n]),
      sum({ ...TWO, tag: 'y' }, 1, 3n, [4n, 1, 3n]),
    ]);
    expect(await store.usage({ ...range, groupBy: ['hour'], provider: 'two' })).toEqual([
      sum({ hour: NOON }, 1, 3n, [4n, 1, 3n]),
    ]);
    // Parts of an hour.
    expect(await store.usage({ ...range, from: NOON + 1, groupBy: ['provider'] })).toEqual([
      sum(ONE, 1, 7n),
      sum(TWO, 1, 3n, [4n, 1, 3n]),
    ]);
    expect(await store.usage({ ...range, from: NOON + 1, groupBy: ['tag'] })).toEqual([
      sum({ tag: 'y' }, 1, 3n, [4n, 1, 3n]),
    ]);
    expect(await store.call('a')).toMatchObject({ providerCost: 5n });
    expect(await store.call('b')).not.toHaveProperty('providerCost');
    expect((await store.verify()).faults).toEqual([]);
    // What an older program writes.
    await tamper("DELETE FROM usage_sums WHERE provider = 'one' AND tag = ''");
    expect(await store.usage({ ...range, groupBy: ['provider'] })).toEqual([
      sum({ provider: '' }, 3, 24n, [11n, 2, 17n]),
      sum(TWO, 1, 3n, [4n, 1, 3n]),
    ]);
    expect(await store.usage({ ...range, from: NOON + 1, groupBy: ['provider'] })).toEqual([
      sum({ provider: '' }, 1, 7n),
      sum(TWO, 1, 3n, [4n, 1, 3n]),
    ]);
    await store.close();
  });
});

test.skipIf(!hasPostgres)('on Postgres a report by account and day reads each day by its hours', async () => {
  const { settings, tamper, store } = await freshStore(ENGINES.at(-1)!);
  await store.close();
  const [first, days] = [494_000, 30];
  await tamper(`INSERT INTO call_sums (account, hour, key, model, calls, cost, input_tokens, output_tokens)
    SELECT 'acc_' || k % 10, ${first} + h, 'key_' || k, 'm', 1, 1, 1, 1
    FROM generate_series(0, ${days * 24 - 1}) AS h, generate_series(0, 49) AS k`);
  const hour = 3_600_000;
  const periods = Array.from({ length: days - 1 }, (_, day) => (first + 24 * (day + 1)) * hour);
  const range = { from: first * hour, to: (first + days * 24) * hour, groupBy: ['account'], periods } as const;
  const [plan] = await plansOf(range, settings.databaseUrl!);
  expect(plan).toContain('call_sums_by_hour');
  expect(plan).not.toContain('call_sums_pkey');
});

test.skipIf(!hasPostgres)('on Postgres a part of an hour by tag reads the calls of its day alone', async () => {
  const { settings, store } = await freshStore(ENGINES.at(-1)!);
  // Storage for these days and some after them.
  for (let day = 0; day < 6; day++) await store.tidy(NOON + day * 86_400_000);
  await store.close();
  const range = { account: 'acc_1', from: NOON + 1, to: NOON + 4 * 3_600_000, groupBy: ['tag'] } as const;
  const [, plan] = await plansOf(range, settings.databaseUrl!);
  expect(plan).toContain('call_tags');
  expect(plan).toContain('calls_20260505');
  expect(plan).toContain('Subplans Removed');
  expect(plan).not.toContain('calls_20260506');
});

/** How Postgres runs each statement of a report, with the settings of the store. */
async function plansOf(range: Parameters<Store['usage']>[0], url: string): Promise<string[]> {
  const statements: Statement[] = [];
  const scan = async (statement: Statement) => {
    statements.push(statement);
    return [];
  };
  await usageTable({ all: async () => [], scan } as unknown as Database).usage(range);
  const sql = new SQL({ url, max: 1 });
  await sql.unsafe('SET enable_seqscan = off; SET jit = off; SET plan_cache_mode = force_generic_plan').simple();
  const plans: string[] = [];
  for (const [index, { text, values }] of statements.entries()) {
    await sql.unsafe(`PREPARE report_${index} AS ${text}`).simple();
    const given = values.map((value) => (typeof value === 'string' ? `'${value}'` : value)).join(', ');
    const plan: { [column: string]: string }[] = await sql
      .unsafe(`EXPLAIN EXECUTE report_${index} (${given})`)
      .simple();
    plans.push(plan.map((row) => Object.values(row)[0]).join('\n'));
  }
  await sql.close();
  return plans;
}

test('a report of hundreds of days in a zone with a part of an hour reads few of them at once', async () => {
  let reading = 0;
  let most = 0;
  let count = 0;
  const scan = async () => {
    most = Math.max(most, ++reading);
    count++;
    await Bun.sleep(0);
    reading--;
    return [];
  };
  const { usage } = usageTable({ all: async () => [], scan } as unknown as Database);
  const QUARTER = 900_000;
  const periods = Array.from({ length: 400 }, (_, day) => NOON + QUARTER + day * 86_400_000);
  await usage({ account: 'acc_1', from: NOON, to: NOON + 400 * 86_400_000, groupBy: [], periods });
  expect(count).toBeGreaterThanOrEqual(400);
  expect(most).toBeLessThanOrEqual(2);
});

test('a report of many calls of an older program, which are in no sum by provider, does not hold up others', async () => {
  const MANY = 20_000;
  const rows = Array.from({ length: MANY }, (_, place) => ({
    ...{ key: `key_${(place * 7919) % MANY}`, period: 0n, minus: -1n, calls: 1n, cost: 5n, input_tokens: 2n },
    ...{ output_tokens: 3n, saved: 0n, provider_cost: 0n, costed_calls: 0n, costed_charge: 0n },
  }));
  const scan = async ({ text }: Statement) => (text.includes('FROM usage_sums') ? [] : rows);
  const { usage } = usageTable({ all: async () => [], scan } as unknown as Database);
  let turns = 0;
  let next = setImmediate(function turn() {
    turns++;
    next = setImmediate(turn);
  });
  const lines = await usage({ from: NOON, to: NOON + 3_600_000, groupBy: ['provider', 'key'] });
  clearImmediate(next);
  expect(lines).toHaveLength(MANY);
  expect(lines.map(({ key = '' }) => key)).toEqual(rows.map(({ key }) => key).sort());
  expect(lines[0]).toMatchObject({ provider: '', calls: 1, cost: 5n });
  // Of each step: adding up, what is in no line, sorting, merging.
  expect(turns).toBeGreaterThan((3 * MANY) / 2000);
});
