import { expect, test } from 'bun:test';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import type { LedgerStep } from './rows.ts';

const NOON = Date.UTC(2026, 4, 5, 12);

function hold(callId: string): LedgerStep {
  const row = {
    callId,
    account: 'acc_1',
    key: 'key_1',
    amount: 0n,
    model: 'm',
    priceId: 'p',
    at: NOON,
    owner: 'own_1',
  };
  return { type: 'hold', hold: row };
}

test.each(ENGINES)('$name: owners of open holds are listed with the last renewal of their lease', async (engine) => {
  const { store } = await freshStore(engine);
  await store.createAccount({ id: 'acc_1', name: 'a', balance: 0n, held: 0n, createdAt: NOON });
  expect(await store.heartbeat('own_2', NOON)).toBe(true);
  expect(await store.owners()).toEqual([]);
  await store.ledger([hold('call_1'), hold('call_2')]);
  expect(await store.owners()).toEqual([{ owner: 'own_1' }]);
  await store.heartbeat('own_1', NOON + 5);
  await store.heartbeat('own_1', NOON + 7);
  expect(await store.owners()).toEqual([{ owner: 'own_1', at: NOON + 7 }]);
  await store.close();
});

test.each(ENGINES)('$name: a lease without renewal can be ended, and is never renewed after that', async (engine) => {
  const { store } = await freshStore(engine);
  await store.createAccount({ id: 'acc_1', name: 'a', balance: 0n, held: 0n, createdAt: NOON });
  await store.ledger([hold('call_1')]);
  await store.heartbeat('own_1', NOON + 7);
  expect(await store.endLease('own_1', NOON + 5, NOON + 9)).toBe(false);
  expect(await store.heartbeat('own_1', NOON + 8)).toBe(true);
  for (const at of [NOON + 9, NOON + 10]) expect(await store.endLease('own_1', NOON + 8, at)).toBe(true);
  expect(await store.heartbeat('own_1', NOON + 11)).toBe(false);
  expect(await store.owners()).toEqual([{ owner: 'own_1', at: NOON + 8, isEnded: true }]);
  // First a lease that was never renewed, then one that is renewed meanwhile.
  for (const at of [NOON, NOON + 1]) expect(await store.endLease('own_3', undefined, at)).toBe(true);
  await store.heartbeat('own_2', NOON);
  expect(await store.endLease('own_2', undefined, NOON)).toBe(false);
  await store.close();
});
