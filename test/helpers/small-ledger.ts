/** A small ledger of some accounts, keys and calls, written by the ledger itself. */

import { HOUR_MS } from '../../src/canonical/time.ts';
import type { HoldRow, LedgerStep } from '../../src/store/rows.ts';
import type { Store } from '../../src/store/store.ts';
import { callRow } from './call-row.ts';

const FIRST = Date.UTC(2026, 0, 1);
const MODELS = ['m', 'n'];

export interface SmallLedger {
  accounts: readonly string[];
  /** Records more calls, later than the existing ones. */
  calls(count: number): Promise<void>;
}

export async function openSmallLedger(store: Store, accounts = ['acc_a', 'acc_b']): Promise<SmallLedger> {
  let made = 0;
  for (const [place, id] of accounts.entries()) {
    await store.createAccount({ id, name: id, balance: 0n, held: 0n, createdAt: FIRST });
    await store.createKey({
      id: `key_of_${id}`,
      account: id,
      kind: 'caller',
      name: 'k',
      hash: `hash ${id}`,
      last4: 'abcd',
      createdAt: FIRST + place,
    });
    await store.ledger([
      { type: 'enter', account: id, kind: 'top-up', amount: 10n ** 12n, counter: 'cash', note: 'é "x"\n', at: FIRST },
    ]);
  }
  return {
    accounts,
    async calls(count) {
      const steps: LedgerStep[] = [];
      for (let left = count; left > 0; left--) steps.push(...callSteps(made++, accounts));
      await store.ledger(steps);
    },
  };
}

/** Every third call is free; an hour has eleven calls. */
function callSteps(number: number, accounts: readonly string[]): LedgerStep[] {
  const account = accounts[number % accounts.length] ?? '';
  const at = FIRST + Math.floor(number / 11) * HOUR_MS + number;
  const cost = number % 3 === 0 ? 0n : BigInt(1000 + number);
  const hold: HoldRow = {
    callId: `call_${number}`,
    account,
    key: `key_of_${account}`,
    amount: 5000n,
    model: MODELS[number % 2] ?? '',
    priceId: 'price_1',
    at,
    owner: 'own_1',
  };
  const { callId: id, owner: _, amount: __, ...of } = hold;
  const call = callRow({ ...of, id, cost, usage: { input: number, output: 2 * number, source: 'reported' } });
  return [
    { type: 'hold', hold },
    { type: 'resolve', callId: id, amount: cost, call },
  ];
}
