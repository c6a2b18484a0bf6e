import { expect, test } from 'bun:test';
import { callRow } from '../../test/helpers/call-row.ts';
import { LEDGER_ENGINES } from '../../test/helpers/engines.ts';
import { ACCOUNT, openAccount, openTestLedger } from './random-load.ts';
import { replay } from './replay.ts';

const NOON = Date.UTC(2026, 10, 30, 12);

test.each(LEDGER_ENGINES)('$name: calls removed meanwhile do not end a replay early', async (engine) => {
  const { settings, tamper } = await engine.freshDatabase();
  const { store, ledger } = await openTestLedger(settings, 'own_1', () => NOON);
  await openAccount({ store, ledger }, 0n);
  await store.savePrice({ id: 'price_1', model: 'm', components: '{}', createdAt: 1 });
  const ids = Array.from({ length: 1001 }, (_, index) => `call_${String(index).padStart(4, '0')}`).reverse();
  const usage = { input: 1, output: 0, source: 'reported' } as const;
  const calls = ids.map((id) => callRow({ id, at: NOON, account: ACCOUNT, priceId: 'price_1', usage }));
  await store.ledger(calls.map((call) => ({ type: 'resolve', callId: call.id, amount: 0n, call })));
  const found: string[] = [];
  const replayed = await replay(store, {
    ...{ from: NOON, to: NOON + 1, readPrice: () => ({ input: 1_000_000n, output: 0n }) },
    async found({ call: { id } }) {
      found.push(id);
      if (found.length % 500 === 0) await tamper(`DELETE FROM calls WHERE id = '${id}'`);
    },
  });
  expect(replayed).toEqual({ calls: 1001, skipped: 0, differences: 1001 });
  expect(found).toEqual(ids);
  await store.close();
});
