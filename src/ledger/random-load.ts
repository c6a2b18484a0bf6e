/** Random calls over a ledger, used by tests of this module and by the child process of the crash test. */
import { writeSync } from 'node:fs';
import { newId } from '../canonical/id.ts';
import type { Money } from '../canonical/money.ts';
import { openStore, type StoreSettings } from '../store/open-store.ts';
import type { CallRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { HoldRequest, Ledger } from './ledger.ts';
import { createLedger, type LedgerSettings } from './prepaid-ledger.ts';

export const ACCOUNT = 'acc_test';
export const KEY = 'key_test';

export interface TestLedger {
  store: Store;
  ledger: Ledger;
}

/** Opens the ledger of this database as one process does. */
export async function openTestLedger(
  settings: StoreSettings,
  owner: string,
  now: () => number = Date.now,
  more: Pick<LedgerSettings, 'monotonic' | 'leaseMs'> = {},
): Promise<TestLedger> {
  const store = await openStore(settings);
  await store.migrate();
  return { store, ledger: createLedger({ store, owner, now, ...more }) };
}

/** Creates an account with this balance. */
export async function openAccount({ store, ledger }: TestLedger, amount: Money, id = ACCOUNT): Promise<void> {
  await store.createAccount({ id, name: id, balance: 0n, held: 0n, createdAt: 1 });
  if (amount > 0n) await ledger.topUp(id, amount, { at: 1 });
}

export function loadHold(callId: string, amount: Money, more: Partial<HoldRequest> = {}): HoldRequest {
  return { callId, account: ACCOUNT, key: KEY, amount, model: 'm', priceId: 'price_1', at: Date.now(), ...more };
}

export function callRecord(callId: string, cost: Money, more: Partial<CallRow> = {}): CallRow {
  return {
    id: callId,
    account: ACCOUNT,
    key: KEY,
    at: Date.now(),
    model: 'm',
    provider: 'p',
    targetModel: 'm',
    dialect: 'd',
    upstreamDialect: 'd',
    stream: false,
    status: 200,
    outcome: 'ok',
    attempts: 1,
    cost,
    priceId: 'price_1',
    usage: { input: 7, output: 5, source: 'reported' },
    durationMs: 3,
    ...more,
  };
}

const HELD = 1000n;
/** The number of keys that make calls. */
const KEYS = 3;
/** With the callers of each account, enough for two batches at the same time. */
const CALLERS_EACH = 10;
export const LOAD_ACCOUNTS = [ACCOUNT, `${ACCOUNT}_2`, `${ACCOUNT}_3`, `${ACCOUNT}_4`];
/** The cost of the crash test's calls once they are sent. */
export const INPUT_COST = 10n;

/** Reported once by the child process when two of its batches run at the same time. */
export const TWO_BATCHES = 'two-batches';

/** One call as the gateway makes it, sometimes hedged, settled twice or abandoned. Reports each finished step. */
async function makeCall(
  ledger: Ledger,
  account: string,
  tell: (word: string, callId: string, cost: Money) => void,
): Promise<void> {
  const callId = newId('call_');
  const of = { account, key: `${account}_key_${Math.floor(Math.random() * KEYS)}` };
  let hold = await ledger.hold(loadHold(callId, HELD, of));
  if (Math.random() < 0.2) return ledger.settle(hold, callRecord(callId, 0n, { ...of, outcome: 'failed' }));
  await ledger.sent(hold, Date.now(), INPUT_COST);
  tell('sent', callId, INPUT_COST);
  if (Math.random() < 0.3) {
    hold = (await ledger.enlarge(hold, { by: HELD, checkpoint: 2n * INPUT_COST, at: Date.now() })) ?? hold;
  }
  await Bun.sleep(Math.random() * 4);
  ledger.checkpoint(hold, INPUT_COST + 5n);
  const cost = INPUT_COST + BigInt(Math.ceil(Math.random() * 1200));
  const settled = ledger.settle(hold, callRecord(callId, cost, of));
  if (Math.random() < 0.2) await ledger.settle(hold, callRecord(callId, cost + 1n, of));
  await settled;
  tell('settled', callId, cost);
}

if (import.meta.main) {
  const [settings, owner] = process.argv.slice(2);
  if (!settings || !owner) throw new Error('Say the database and the owner.');
  const { store } = await openTestLedger(JSON.parse(settings) as StoreSettings, owner);
  let batches = 0;
  let most = 0;
  const watched: Store = {
    ...store,
    ledger(steps, waits) {
      batches++;
      if (batches === 2 && most < 2) writeSync(1, `${TWO_BATCHES}\n`);
      most = Math.max(most, batches);
      return store.ledger(steps, waits).finally(() => batches--);
    },
  };
  const ledger = createLedger({ store: watched, owner, now: Date.now });
  const tell = (word: string, callId: string, cost: Money) => void writeSync(1, `${word} ${callId} ${cost}\n`);
  const endless = async (account: string) => {
    for (;;) await makeCall(ledger, account, tell);
  };
  await Promise.all(LOAD_ACCOUNTS.flatMap((account) => Array.from({ length: CALLERS_EACH }, () => endless(account))));
}
