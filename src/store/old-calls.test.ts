import { expect, test } from 'bun:test';
import { callRow } from '../../test/helpers/call-row.ts';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import type { CallRow, LedgerStep } from './rows.ts';

const NOON = Date.UTC(2026, 4, 5, 12);
const ACCOUNT = { id: 'acc_1', name: 'acc_1', balance: 0n, held: 0n, createdAt: NOON };
const TOP_UP: LedgerStep = {
  type: 'enter',
  account: 'acc_1',
  kind: 'top-up',
  amount: 1000n,
  counter: 'cash',
  at: NOON,
};

const callRecord = (id: string, at: number): CallRow =>
  callRow({ id, at, cost: 5n, usage: { input: 10, output: 4, source: 'reported' } });
const resolve = (row: CallRow): LedgerStep => ({ type: 'resolve', callId: row.id, amount: row.cost, call: row });

test.each(ENGINES)(
  '$name: old calls are removed by days; sums, balances and verification stay correct',
  async (engine) => {
    const { store } = await freshStore(engine);
    const DAY = 86_400_000;
    const midnight = NOON - DAY / 2;
    await store.createAccount(ACCOUNT);
    await store.tidy(NOON);
    const days = [-1, 0, 1, 2, 9];
    const rows = days.map((day) => resolve(callRecord(`call_${day}`, NOON + day * DAY)));
    await store.ledger([TOP_UP, ...rows]);
    await store.tidy(NOON + 2 * DAY);
    const ids = async () => (await store.calls({ limit: 9 })).map(({ id }) => id);
    expect(await ids()).toEqual(['call_9', 'call_2', 'call_1', 'call_0', 'call_-1']);
    const periods = Array.from({ length: 20 }, (_, day) => midnight + day * DAY);
    const range = { from: midnight - DAY, to: midnight + 20 * DAY };
    const sums = () => store.usage({ account: 'acc_1', ...range, groupBy: [], periods });
    const before = await sums();
    expect(before.map(({ period, calls, cost }) => [period, calls, cost])).toEqual(
      ['04', '05', '06', '07', '14'].map((day) => [Date.parse(`2026-05-${day}`), 1, 5n]),
    );
    await store.tidy(NOON + 3 * DAY, midnight + DAY);
    expect(await ids()).toEqual(['call_9', 'call_2', 'call_1']);
    expect(await sums()).toEqual(before);
    expect(await store.account('acc_1')).toMatchObject({ balance: 975n });
    expect(await store.verify()).toMatchObject({ faults: [], entries: 6 });
    await store.close();
  },
);
