import { expect, test } from 'bun:test';
import { callRow } from '../../test/helpers/call-row.ts';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import type { CallFilter, CallRow, LedgerStep } from './store.ts';

const NOON = Date.UTC(2026, 4, 5, 12);
const HOUR_MS = 3_600_000;
const QUARTER_MS = HOUR_MS / 4;

/** Four calls an hour over three days. Some keys and models appear in adjacent hours, some rarely, one only once. */
const CALLS = Array.from(
  { length: 4 * 72 },
  (_, index): CallRow =>
    callRow({
      id: `call_${String(index).padStart(4, '0')}`,
      at: NOON + index * QUARTER_MS,
      key: index % 37 === 0 ? 'key_rare' : index === 100 ? 'key_once' : 'key_1',
      model: Math.floor(index / 12) % 2 === 0 ? 'model_1' : 'model_2',
    }),
);

const FILTERS: readonly Partial<CallFilter>[] = [
  { key: 'key_rare' },
  { key: 'key_once' },
  { key: 'key_none' },
  { key: 'key_1', model: 'model_2' },
  { key: 'key_rare', model: 'model_1', account: 'acc_1' },
  { key: 'key_rare', account: 'acc_2' },
  { model: 'model_2', from: NOON + 20 * QUARTER_MS + 1, to: NOON + 230 * QUARTER_MS - 1 },
  { key: 'key_rare', from: NOON + 37 * QUARTER_MS, to: NOON + 74 * QUARTER_MS },
];

test.each(ENGINES)(
  '$name: pages of a key or a model contain the same calls as a filtered list of all calls',
  async (engine) => {
    const { store } = await freshStore(engine);
    await store.createAccount({ id: 'acc_1', name: 'acc_1', balance: 0n, held: 0n, createdAt: NOON });
    await store.ledger(CALLS.map((call): LedgerStep => ({ type: 'resolve', callId: call.id, amount: 0n, call })));
    for (const filter of FILTERS) {
      const { account = 'acc_1', key, model, from = 0, to = Number.POSITIVE_INFINITY } = filter;
      const isMeant = (call: CallRow) =>
        (key ?? call.key) === call.key && (model ?? call.model) === call.model && account === call.account;
      const expected = CALLS.filter((call) => isMeant(call) && call.at >= from && call.at < to).map(({ id }) => id);
      for (const limit of [1, 3, 50]) {
        const seen: string[] = [];
        for (let more = true; more; ) {
          const after = seen.at(-1);
          const page = await store.calls({ ...filter, limit, ...(after !== undefined && { after }) });
          seen.push(...page.map(({ id }) => id));
          more = page.length === limit;
        }
        expect(seen, JSON.stringify({ ...filter, limit })).toEqual(expected.toReversed());
      }
    }
    await store.close();
  },
  60_000,
);
