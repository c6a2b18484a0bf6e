import { expect, test } from 'bun:test';
import { LEDGER_ENGINES } from '../../test/helpers/engines.ts';
import { fc } from '../../test/helpers/property.ts';
import { MINUTE_MS } from '../canonical/time.ts';
import { callRecord, loadHold, openAccount, openTestLedger, type TestLedger } from './random-load.ts';

const ACCOUNTS = ['acc_a', 'acc_b'] as const;
const BUDGET = { total: 3000n };
const AT = Date.UTC(2026, 0, 5);
/** A new Postgres database takes a quarter of a second. */
const RUNS: { readonly [engine: string]: number } = { SQLite: 60, 'SQLite, unfiled calls': 30, Postgres: 12 };

type Act =
  | { do: 'hold'; account: number; amount: number; budgeted: boolean }
  | { do: 'sent' | 'checkpoint' | 'settle' | 'enlarge'; call: number; amount: number }
  | { do: 'top-up'; account: number; amount: number; key: number }
  | { do: 'crash' };

/** The expected state of the ledger, as a simple model. */
interface Model {
  balances: bigint[];
  /** Spent and held of the key with a budget, for each account. */
  spent: bigint[];
  calls: {
    id: string;
    account: number;
    budgeted: boolean;
    amount: bigint;
    checkpoint?: bigint;
    cost?: bigint;
    isProvisional?: boolean;
  }[];
  /** The amount of each idempotency key's top-up. */
  keys: Map<string, bigint>;
}

const open = (model: Model, account: number, budgeted?: true) =>
  model.calls
    .filter((call) => call.account === account && call.cost === undefined && (!budgeted || call.budgeted))
    .reduce((sum, call) => sum + call.amount, 0n);

/** Ends a call. A provisional settlement after a crash may be completed later. */
function end(model: Model, call: Model['calls'][number], cost: bigint, isProvisional = false): void {
  if (call.cost !== undefined && (isProvisional || !call.isProvisional)) return;
  const difference = cost - (call.cost ?? 0n);
  call.cost = cost;
  call.isProvisional = isProvisional;
  model.balances[call.account]! -= difference;
  if (call.budgeted) model.spent[call.account]! += difference;
}

/** Applies a step to the ledger and, in the same turn of the event loop, to the model. Steps of one turn are decided in that order. */
function act(opened: TestLedger, model: Model, step: Exclude<Act, { do: 'crash' }>): Promise<unknown> {
  const { ledger } = opened;
  const amount = BigInt(step.amount);
  if (step.do === 'top-up') {
    const account = ACCOUNTS[step.account]!;
    const idempotencyKey = `top-up-${step.key}`;
    const first = model.keys.get(account + idempotencyKey);
    if (first === undefined) model.balances[step.account]! += amount;
    model.keys.set(account + idempotencyKey, first ?? amount);
    const entered = ledger.topUp(account, amount, { at: AT, idempotencyKey });
    if (first === undefined || first === amount) return entered;
    return entered.then(
      () => expect.unreachable(),
      (refusal) => expect(refusal).toMatchObject({ code: 'conflict' }),
    );
  }
  if (step.do === 'hold') {
    const { account, budgeted } = step;
    const id = `call_${model.calls.length}`;
    const key = `${ACCOUNTS[account]}_${budgeted ? 'budgeted' : 'free'}`;
    const covered = amount <= model.balances[account]! - open(model, account);
    const within = !budgeted || amount <= BUDGET.total - model.spent[account]! - open(model, account, true);
    const request = { account: ACCOUNTS[account]!, key, at: AT, ...(budgeted && { budget: BUDGET }) };
    const held = ledger.hold(loadHold(id, amount, request));
    if (covered && within) {
      model.calls.push({ id, account, budgeted, amount });
      return held;
    }
    const code = covered ? 'budget_exhausted' : 'insufficient_balance';
    return held.then(
      () => expect.unreachable(),
      (refusal) => expect(refusal).toMatchObject({ code }),
    );
  }
  const call = model.calls[step.call % Math.max(1, model.calls.length)];
  if (!call) return Promise.resolve();
  const key = `${ACCOUNTS[call.account]}_${call.budgeted ? 'budgeted' : 'free'}`;
  const hold = { callId: call.id, account: ACCOUNTS[call.account]!, key, amount: call.amount };
  if (step.do === 'settle') {
    end(model, call, amount);
    return ledger.settle(hold, callRecord(call.id, amount, { account: hold.account, key, at: AT }));
  }
  if (step.do === 'enlarge') {
    const { budgeted } = call;
    const covered = amount <= model.balances[call.account]! - open(model, call.account);
    const within = !budgeted || amount <= BUDGET.total - model.spent[call.account]! - open(model, call.account, true);
    const isEnlarged = call.cost === undefined && covered && within;
    const checkpoint = call.checkpoint ?? 0n;
    const enlarging = ledger.enlarge(hold, { by: amount, checkpoint, at: AT, ...(budgeted && { budget: BUDGET }) });
    if (isEnlarged) call.amount += amount;
    const now = call.amount;
    return enlarging.then((enlarged) => expect(enlarged?.amount).toBe(isEnlarged ? now : undefined));
  }
  if (call.cost === undefined && (step.do === 'sent' || call.checkpoint !== undefined)) {
    if (call.checkpoint === undefined || amount > call.checkpoint) call.checkpoint = amount;
  }
  // A checkpoint before the call was sent has no effect: the gateway never makes one.
  if (step.do === 'checkpoint' && call.checkpoint === undefined) return Promise.resolve();
  if (step.do === 'sent') return ledger.sent(hold, AT, amount);
  ledger.checkpoint(hold, call.checkpoint ?? 0n);
  return Promise.resolve();
}

async function agree({ store, ledger }: TestLedger, model: Model): Promise<void> {
  for (const [index, id] of ACCOUNTS.entries()) {
    const held = open(model, index);
    expect(await ledger.balance(id)).toEqual({ available: model.balances[index]! - held, held });
    const { total } = await store.keySpending(`${id}_budgeted`, AT);
    expect(total).toBe(model.spent[index]! + open(model, index, true));
  }
  for (const call of model.calls) expect((await store.call(call.id))?.cost).toBe(call.cost);
  expect((await ledger.verify()).faults).toEqual([]);
}

const amount = fc.nat({ max: 1500 });
const account = fc.nat({ max: 1 });
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('hold' as const), account, amount, budgeted: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('sent', 'checkpoint', 'settle', 'enlarge'),
      call: fc.nat({ max: 40 }),
      amount,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('top-up' as const), account, amount, key: fc.nat({ max: 9 }) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'crash' as const }) },
);

test.each(LEDGER_ENGINES)(
  '$name: after any order of steps, batches and crashes the ledger has the state of the model',
  async (engine) => {
    // Each inner list runs in one turn, so it is one batch.
    const runs = fc.array(fc.array(acts, { maxLength: 12 }), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(runs, async (batches) => {
        const { settings } = await engine.freshDatabase();
        const model: Model = { balances: [5000n, 2000n], spent: [0n, 0n], calls: [], keys: new Map() };
        let generation = 0;
        let opened = await openTestLedger(settings, `own_${generation}`, () => AT);
        for (const [index, id] of ACCOUNTS.entries()) await openAccount(opened, model.balances[index]!, id);
        for (const batch of batches) {
          const steps = batch.filter((step) => step.do !== 'crash');
          await Promise.all(steps.map((step) => act(opened, model, step)));
          if (steps.length < batch.length) {
            await opened.ledger.flush();
            await opened.store.close();
            const later = AT + ++generation * MINUTE_MS;
            opened = await openTestLedger(settings, `own_${generation}`, () => later);
            await opened.ledger.sweep(later, () => 'gone');
            for (const call of model.calls) end(model, call, call.checkpoint ?? 0n, true);
          }
          await agree(opened, model);
        }
        await opened.store.close();
      }),
      { numRuns: RUNS[engine.name] ?? 12 },
    );
  },
  120_000,
);
