/** Several processes on one database, several keys of an account, and admin changes: the ledger is compared with a model. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { LEDGER_ENGINES } from '../../test/helpers/engines.ts';
import { fc } from '../../test/helpers/property.ts';
import type { GatewayError } from '../canonical/errors.ts';
import { callRecord, loadHold, openTestLedger, type TestLedger } from './random-load.ts';

const PROCESSES = 3;
const KEYS = 3;
const AT = Date.UTC(2026, 0, 5);
/** A process that found an account shared uses locks for sixteen batches; a burst may be longer. */
const LONGEST_BURST = 24;
const RUNS: { readonly [engine: string]: number } = { SQLite: 25, 'SQLite, unfiled calls': 25, Postgres: 25 };

type Act =
  /** One process makes calls one after another. */
  | { do: 'burst'; process: number; key: number; calls: number; amount: number; keep: boolean }
  /** Every process makes concurrent calls with every key and settles them. */
  | { do: 'rush'; calls: number; amount: number }
  | { do: 'top-up'; process: number; amount: number }
  | { do: 'refund'; process: number; amount: number }
  | { do: 'key-budget'; key: number; amount: number | undefined }
  | { do: 'account-budget'; amount: number | undefined }
  | { do: 'toggle-key'; process: number; key: number }
  /** A process wrongly assumes that all others are dead. */
  | { do: 'suspect'; process: number }
  | { do: 'end'; process: number; call: number; amount: number };

interface ModelCall {
  id: string;
  key: number;
  owner: number;
  amount: bigint;
  checkpoint: bigint;
  cost?: bigint;
  isProvisional?: boolean;
  refunded: bigint;
}

/** The expected state of the ledger, as a simple model. */
class Model {
  balance = 20_000n;
  budgets: (bigint | undefined)[] = Array.from({ length: KEYS });
  accountBudget: bigint | undefined;
  calls: ModelCall[] = [];
  readonly account: string;
  constructor(account: string) {
    this.account = account;
  }

  key = (number: number) => `${this.account}_key_${number}`;
  of = (key?: number) => this.calls.filter((call) => key === undefined || call.key === key);
  spent = (key?: number) => this.of(key).reduce((sum, { cost = 0n }) => sum + cost, 0n);
  held = (key?: number) =>
    this.of(key).reduce((sum, { cost, amount }) => (cost === undefined ? sum + amount : sum), 0n);
  /** The maximum of a hold now, and the reason for the limit. */
  available(key: number): bigint {
    const limits = [this.balance - this.held()];
    const budget = this.budgets[key];
    if (budget !== undefined) limits.push(budget - this.spent(key) - this.held(key));
    if (this.accountBudget !== undefined) limits.push(this.accountBudget - this.spent() - this.held());
    return limits.reduce((least, limit) => (limit < least ? limit : least));
  }
}

const process = fc.nat({ max: PROCESSES - 1 });
const key = fc.nat({ max: KEYS - 1 });
const amount = fc.integer({ min: 1, max: 900 });
const budget = fc.option(fc.integer({ min: 0, max: 9000 }), { nil: undefined, freq: 2 });
const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('burst' as const),
      process,
      key,
      calls: fc.integer({ min: 1, max: LONGEST_BURST }),
      amount,
      keep: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('rush' as const), calls: fc.integer({ min: 1, max: 4 }), amount }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('top-up' as const), process, amount }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refund' as const), process, amount }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('key-budget' as const, 'account-budget' as const),
      key,
      amount: budget,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('toggle-key' as const), process, key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('suspect' as const), process }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('end' as const), process, call: fc.nat({ max: 99 }), amount }) },
);

describe.each(LEDGER_ENGINES)('$name', (engine) => {
  let processes: TestLedger[] = [];
  let accounts = 0;

  beforeAll(async () => {
    const { settings } = await engine.freshDatabase();
    for (let number = 0; number < PROCESSES; number++) {
      processes.push(await openTestLedger(settings, `own_${number}`, () => AT));
    }
  });
  afterAll(async () => {
    for (const { store } of processes) await store.close();
    processes = [];
  });

  const booksOf = (number: number) => processes[number] as TestLedger;

  /** Requests a hold; one that the model does not cover must be refused. */
  async function hold(model: Model, process: number, key: number, amount: bigint): Promise<ModelCall | undefined> {
    const total = model.budgets[key];
    const id = `${model.account}_call_${model.calls.length}`;
    const checkpoint = amount / 3n;
    const call: ModelCall = { id, key, owner: process, amount, checkpoint, refunded: 0n };
    const request = loadHold(call.id, amount, {
      account: model.account,
      key: model.key(key),
      at: AT,
      sentAt: AT,
      checkpoint,
    });
    if (total !== undefined) request.budget = { total };
    if (model.accountBudget !== undefined) request.accountBudget = { total: model.accountBudget };
    model.calls.push(call);
    try {
      await booksOf(process).ledger.hold(request);
      return call;
    } catch (thrown) {
      expect(['insufficient_balance', 'budget_exhausted']).toContain((thrown as GatewayError).code);
      call.cost = 0n;
      return undefined;
    }
  }

  async function settle(model: Model, process: number, call: ModelCall, cost: bigint): Promise<void> {
    const { id: callId, amount } = call;
    const [account, key] = [model.account, model.key(call.key)];
    await booksOf(process).ledger.settle(
      { callId, account, key, amount },
      callRecord(callId, cost, { account, key, at: AT }),
    );
    model.balance -= cost - (call.cost ?? 0n);
    call.cost = cost;
    call.isProvisional = false;
  }

  async function suspect(model: Model, process: number): Promise<void> {
    await booksOf(process).ledger.sweep(AT, () => 'gone');
    for (const call of model.calls) {
      if (call.cost !== undefined || call.owner === process) continue;
      call.cost = call.checkpoint;
      call.isProvisional = true;
      model.balance -= call.cost;
    }
  }

  async function burst(model: Model, act: Extract<Act, { do: 'burst' }>): Promise<void> {
    for (let count = 0; count < act.calls; count++) {
      const amount = BigInt(act.amount);
      const available = model.available(act.key);
      const call = await hold(model, act.process, act.key, amount);
      expect(call !== undefined, `a hold of ${amount} where ${available} are left`).toBe(amount <= available);
      if (call && !(act.keep && count === 0)) await settle(model, act.process, call, amount / 2n + 1n);
    }
  }

  /** The order is unknown. But nothing is released meanwhile, so a refused call must not fit at the end either. */
  async function rush(model: Model, { calls, amount }: Extract<Act, { do: 'rush' }>): Promise<void> {
    const made: Promise<ModelCall | undefined>[] = [];
    for (let process = 0; process < PROCESSES; process++) {
      for (let key = 0; key < KEYS; key++) {
        for (let count = 0; count < calls; count++) made.push(hold(model, process, key, BigInt(amount)));
      }
    }
    const held = await Promise.all(made);
    const keyOf = (index: number) => Math.floor(index / calls) % KEYS;
    for (const [index, call] of held.entries()) {
      const available = model.available(keyOf(index));
      if (call) expect(available).toBeGreaterThanOrEqual(0n);
      else expect(available).toBeLessThan(BigInt(amount));
    }
    await Promise.all(
      held.map((call, index) => call && settle(model, (index + 1) % PROCESSES, call, BigInt(amount) - 1n)),
    );
  }

  async function refund(model: Model, process: number, amount: bigint): Promise<void> {
    const call = model.calls.find(({ cost = 0n, refunded }) => cost - refunded >= amount);
    if (!call) return;
    await booksOf(process).ledger.topUp(model.account, amount, { at: AT, kind: 'refund', callId: call.id });
    call.refunded += amount;
    model.balance += amount;
  }

  async function act(model: Model, step: Act): Promise<void> {
    switch (step.do) {
      case 'burst':
        return burst(model, step);
      case 'rush':
        return rush(model, step);
      case 'key-budget':
        model.budgets[step.key] = step.amount === undefined ? undefined : BigInt(step.amount);
        return;
      case 'account-budget':
        model.accountBudget = step.amount === undefined ? undefined : BigInt(step.amount);
        return;
      case 'toggle-key':
        return toggle(model, step.process, step.key);
      case 'top-up':
        await booksOf(step.process).ledger.topUp(model.account, BigInt(step.amount), { at: AT });
        model.balance += BigInt(step.amount);
        return;
      case 'suspect':
        return suspect(model, step.process);
      case 'refund':
        return refund(model, step.process, BigInt(step.amount));
      default: {
        const open = model.calls.filter(({ cost, isProvisional }) => cost === undefined || isProvisional);
        const call = open[step.call % Math.max(1, open.length)];
        if (call) await settle(model, step.process, call, BigInt(step.amount));
      }
    }
  }

  async function toggle(model: Model, process: number, number: number): Promise<void> {
    const { store } = booksOf(process);
    const id = model.key(number);
    const known = await store.keyById(id);
    const row = {
      id,
      account: model.account,
      kind: 'caller',
      name: id,
      hash: id,
      last4: 'last',
      createdAt: AT,
    } as const;
    if (known) await store.updateKey(id, { disabledAt: known.disabledAt === undefined ? AT : null });
    else await store.createKey(row);
  }

  async function agree(model: Model): Promise<void> {
    const { store, ledger } = booksOf(0);
    expect(await ledger.balance(model.account)).toEqual({
      available: model.balance - model.held(),
      held: model.held(),
    });
    expect((await store.accountSpending(model.account, AT)).total).toBe(model.spent() + model.held());
    for (let key = 0; key < KEYS; key++) {
      const { total } = await store.keySpending(model.key(key), AT);
      expect(total, `spent and held of key ${key}`).toBe(model.spent(key) + model.held(key));
    }
  }

  test(`with ${PROCESSES} processes, ${KEYS} keys of one account and admin changes, each key's spending equals the sum of its calls`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(acts, { minLength: 4, maxLength: 14 }), async (steps) => {
        const model = new Model(`acc_${++accounts}`);
        const { store, ledger } = booksOf(0);
        await store.createAccount({ id: model.account, name: model.account, balance: 0n, held: 0n, createdAt: 1 });
        await ledger.topUp(model.account, model.balance, { at: 1 });
        for (const step of steps) {
          await act(model, step);
          await agree(model);
        }
      }),
      { numRuns: RUNS[engine.name] ?? 25, interruptAfterTimeLimit: 25_000 },
    );
    expect((await booksOf(0).ledger.verify()).faults).toEqual([]);
  }, 60_000);
});
