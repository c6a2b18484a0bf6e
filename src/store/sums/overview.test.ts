import { describe, expect, test } from 'bun:test';
import { callRow } from '../../../test/helpers/call-row.ts';
import { freshStore, LEDGER_ENGINES } from '../../../test/helpers/engines.ts';
import type { CallRow } from '../rows.ts';
import type { Store } from '../store.ts';
import { spanOf } from './overview-slots.ts';
import { addFigures, countOf, noFigures, type OverviewFigures, OverviewSums, quantile } from './overview-sums.ts';

const NOW = Date.UTC(2026, 4, 20, 12, 34, 56);
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const DAY_START = Date.UTC(2026, 4, 20);

function end(store: Store, row: CallRow) {
  return store.ledger([{ type: 'resolve', callId: row.id, amount: row.cost, call: row }]);
}

async function read(store: Store, from: number, to = NOW, now = NOW) {
  const span = spanOf(from, to, now);
  const { steps, models } = await store.overview(span, 6);
  const sums = { current: noFigures(), previous: noFigures() };
  for (const { slot, figures } of steps) {
    if (slot >= span.from) addFigures(sums.current, figures);
    else if (slot < span.beforeTo) addFigures(sums.previous, figures);
  }
  return { span, steps, models, ...sums, top: await store.topSpenders(span, 6, countOf(sums.current, 'calls')) };
}

const plain = (figures: OverviewFigures) => ({
  calls: countOf(figures, 'calls'),
  failed: countOf(figures, 'failed'),
  cost: figures.cost,
  saved: figures.saved,
  tokens: (['input', 'cachedInput', 'cacheWrite', 'output', 'reasoning'] as const).map((name) =>
    countOf(figures, name),
  ),
});

describe.each(LEDGER_ENGINES)('$name', (engine) => {
  test('calls are summed by time, model, key and account, however they are recorded', async () => {
    const { store } = await freshStore(engine);
    for (const id of ['acc_1', 'acc_2'])
      await store.createAccount({ id, name: id, balance: 0n, held: 0n, createdAt: NOW });
    const usage = {
      input: 100,
      cachedInput: 60,
      cacheWrite: 5,
      cacheWriteHour: 3,
      output: 20,
      reasoning: 7,
      source: 'reported',
    } as const;
    await store.ledger(
      [
        callRow({ id: 'a', at: NOW - 10 * MINUTE, cost: 50n, saved: 4n, usage, firstByteMs: 120, durationMs: 900 }),
        callRow({
          id: 'b',
          at: NOW - 20 * MINUTE,
          cost: 7n,
          model: 'n',
          key: 'key_2',
          outcome: 'broken',
          firstByteMs: 800,
        }),
        callRow({ id: 'old', at: NOW - 70 * MINUTE, cost: 3n }),
        callRow({ id: 'older', at: NOW - 30 * HOUR, cost: 11n, account: 'acc_2', key: 'key_3' }),
      ].map((row) => ({ type: 'resolve' as const, callId: row.id, amount: row.cost, call: row })),
    );
    // A process was assumed dead and was not: its own record counts, once.
    const late = callRow({ id: 'late', at: NOW - 5 * MINUTE, cost: 30n });
    await end(store, {
      ...late,
      outcome: 'interrupted',
      provisional: true,
      usage: { input: 9, output: 9, source: 'partial' },
    });
    expect(plain((await read(store, NOW - HOUR)).current)).toMatchObject({ calls: 3, failed: 2, cost: 87n });
    await end(store, { ...late, cost: 20n, usage, firstByteMs: 130, durationMs: 950 });

    const hour = await read(store, NOW - HOUR);
    expect(plain(hour.current)).toEqual({ calls: 3, failed: 1, cost: 77n, saved: 4n, tokens: [200, 120, 16, 40, 14] });
    expect(plain(hour.previous)).toMatchObject({ calls: 1, cost: 3n });
    expect(hour.models.map(({ model, figures }) => [model, figures.cost])).toEqual([
      ['m', 70n],
      ['n', 7n],
    ]);
    expect(quantile(hour.current, 'firstByteMs', 0.5)).toBeGreaterThan(100);
    expect(quantile(hour.current, 'firstByteMs', 0.5)).toBeLessThanOrEqual(150);
    expect(quantile(hour.current, 'durationMs', 0.95)).toBeLessThanOrEqual(1000);
    expect(quantile(hour.previous, 'firstByteMs', 0.5)).toBeUndefined();
    expect(hour.top.keys).toEqual([
      { account: 'acc_1', key: 'key_1', calls: 2, cost: 70n, tokens: 240 },
      { account: 'acc_1', key: 'key_2', calls: 1, cost: 7n, tokens: 0 },
    ]);
    expect(hour.top.accounts).toEqual([{ account: 'acc_1', calls: 3, cost: 77n, tokens: 240 }]);

    // Hours, days, and the beginning of an hour for a busy period read the same calls from other sums.
    const day = await read(store, NOW - DAY);
    expect(day.span).toMatchObject({ step: 12 });
    expect(plain(day.current)).toMatchObject({ calls: 4, cost: 80n });
    expect(plain(day.previous)).toMatchObject({ calls: 1, cost: 11n });
    expect(day.top.accounts).toEqual([{ account: 'acc_1', calls: 4, cost: 80n, tokens: 240 }]);
    const month = await read(store, DAY_START - 29 * DAY);
    expect(month.span).toMatchObject({ step: 288 });
    expect(month.top.accounts.map(({ account, cost }) => [account, cost])).toEqual([
      ['acc_1', 80n],
      ['acc_2', 11n],
    ]);
    const busy = await store.topSpenders(hour.span, 6, 1_000_000);
    expect(busy.from).toBe(Date.UTC(2026, 4, 20, 11));
    expect(busy.accounts).toEqual([{ account: 'acc_1', calls: 4, cost: 80n, tokens: 240 }]);
    await store.close();
  });

  test('old slots are merged into hours and days, and the sums stay', async () => {
    const { store, tamper } = await freshStore(engine);
    await store.createAccount({ id: 'acc_1', name: 'acc_1', balance: 0n, held: 0n, createdAt: NOW });
    const ages = [
      MINUTE,
      4 * HOUR,
      8 * HOUR,
      8 * HOUR + 10 * MINUTE,
      12 * DAY,
      20 * DAY,
      20 * DAY + 2 * HOUR,
      40 * DAY,
    ];
    for (const [index, age] of ages.entries())
      await end(store, callRow({ id: `c${index}`, at: NOW - age, cost: 10n ** BigInt(index) }));
    // Rows of another process.
    if (engine.name.includes('Postgres')) await tamper("UPDATE overview_sums SET writer = 'other' WHERE cost >= 1000");
    const reads = async () => {
      const all = await Promise.all(
        [NOW - HOUR, NOW - DAY, DAY_START - 6 * DAY, DAY_START - 29 * DAY].map((from) => read(store, from)),
      );
      return all.map(({ current, previous, steps }) => ({
        current,
        previous,
        steps: steps.map(({ figures }) => plain(figures)),
      }));
    };
    const before = await reads();
    expect(before.map(({ current, previous }) => [plain(current).cost, plain(previous).cost])).toEqual([
      [1n, 0n],
      [1111n, 0n],
      [1111n, 10_000n],
      [1_111_111n, 10_000_000n],
    ]);
    await store.tidy(NOW);
    expect(await reads()).toEqual(before);
    await end(store, callRow({ id: 'again', at: NOW - 20 * DAY, cost: 5n }));
    await store.tidy(NOW);
    await store.tidy(NOW);
    const [, , , month] = await reads();
    expect(plain(month!.current)).toMatchObject({ calls: 8, cost: 1_111_116n });
    await store.close();
  });

  test('the sum of open holds, of all processes', async () => {
    const { store } = await freshStore(engine);
    expect(await store.heldSum()).toEqual({ open: 0, amount: 0n });
    await store.createAccount({ id: 'acc_1', name: 'acc_1', balance: 0n, held: 0n, createdAt: NOW });
    await store.ledger([{ type: 'enter', account: 'acc_1', kind: 'top-up', amount: 100n, counter: 'cash', at: 1 }]);
    const hold = { account: 'acc_1', key: 'key_1', amount: 20n, model: 'm', priceId: 'p', at: NOW, owner: 'one' };
    await store.ledger([
      { type: 'hold', hold: { ...hold, callId: 'x' } },
      { type: 'hold', hold: { ...hold, callId: 'y', at: NOW - 5, owner: 'two' } },
    ]);
    expect(await store.heldSum()).toEqual({ open: 2, amount: 40n, oldest: NOW - 5 });
    await store.close();
  });
});

test('a period is rounded outwards to slots that exist', () => {
  const at = (time: number) => time / (5 * MINUTE);
  const hour = spanOf(NOW - HOUR, NOW, NOW);
  expect(hour).toEqual({
    before: at(Date.UTC(2026, 4, 20, 10, 25)),
    from: at(Date.UTC(2026, 4, 20, 11, 30)),
    to: at(Date.UTC(2026, 4, 20, 12, 35)),
    step: 1,
    beforeTo: at(Date.UTC(2026, 4, 20, 11, 30)),
  });
  // Long ago there are days alone.
  const past = spanOf(NOW - 60 * DAY, NOW - 60 * DAY + HOUR, NOW);
  expect(past).toMatchObject({ step: 288, from: at(DAY_START - 60 * DAY), to: at(DAY_START - 59 * DAY) });
  // A period that has not ended is compared with as much of the one before.
  const week = spanOf(DAY_START - 6 * DAY, DAY_START + DAY, NOW);
  expect(week).toMatchObject({ before: at(DAY_START - 13 * DAY), beforeTo: at(DAY_START - 7 * DAY + 13 * HOUR) });
});

test('quantiles of estimated times', () => {
  const sums = new OverviewSums();
  const base = { at: 0, model: 'm', outcome: 'ok', cost: 0n, tokens: { input: 0, output: 0 } } as const;
  for (let ms = 1; ms <= 1000; ms++) sums.add({ ...base, durationMs: ms * 10 });
  const [sum] = sums.sums;
  const figures = sum!;
  for (const [p, expected] of [
    [0.5, 5000],
    [0.95, 9500],
  ] as const) {
    const found = quantile(figures, 'durationMs', p)!;
    expect(Math.abs(found - expected) / expected).toBeLessThan(0.02);
  }
  const slow = new OverviewSums();
  slow.add({ ...base, durationMs: 3_600_000 });
  expect(quantile(slow.sums[0]!, 'durationMs', 0.5)).toBe(240_000);
});
