/** Two batches at the same time: of different accounts, each account's steps in order, and no failure of one is the other's. */
import { expect, test } from 'bun:test';
import { fc } from '../../test/helpers/property.ts';
import type { LedgerOutcome, LedgerStep } from '../store/rows.ts';
import { createGroupCommit } from './group-commit.ts';

const AT_ONCE = 4;
/** The smallest batch that runs beside another one. */
const PART = 16;
/** After a batch the next one begins in the third turn that begins after its end. */
const GATHERING_TURNS = 3;
const turn = () => new Promise((resolve) => setImmediate(resolve));
async function turns(count: number): Promise<void> {
  for (let passed = 0; passed < count; passed++) await turn();
}

interface Running {
  steps: readonly LedgerStep[];
  waits: boolean;
  end(outcomes?: LedgerOutcome[]): void;
  fail(cause: Error): void;
}

/** A store whose batches end on command. */
function commandedStore(gatheringMs?: number) {
  const begun: Running[] = [];
  const running = new Set<Running>();
  const commit = (steps: readonly LedgerStep[], waits: boolean) =>
    new Promise<LedgerOutcome[]>((resolve, reject) => {
      const batch: Running = {
        steps,
        waits,
        end: (outcomes = steps.map(() => ({ type: 'marked' }))) => {
          running.delete(batch);
          resolve(outcomes);
        },
        fail: (cause) => {
          running.delete(batch);
          reject(cause);
        },
      };
      begun.push(batch);
      running.add(batch);
    });
  return { begun, running, commits: createGroupCommit(commit, AT_ONCE, gatheringMs) };
}

const markOf = (account: string, callId: string): LedgerStep => ({ type: 'mark', account, callId });
const accountsOf = ({ steps }: Running) => new Set(steps.map((step) => (step.type === 'mark' ? step.account : '')));
/** Steps of these accounts in turn. */
const marks = (count: number, ...accounts: readonly string[]) =>
  Array.from({ length: count }, (_, index) => markOf(accounts[index % accounts.length]!, `call_${index}`));

test('from 32 steps of several accounts on there are two batches, each with half of the accounts', async () => {
  const { begun, commits } = commandedStore();
  const all = marks(2 * PART, 'a', 'b', 'c', 'd').map(commits.submit);
  await turn();
  expect(begun.map(accountsOf)).toEqual([new Set(['a', 'b']), new Set(['c', 'd'])]);
  expect(begun.map(({ waits }) => waits)).toEqual([false, false]);
  for (const { end } of begun) end();
  await Promise.all(all);
});

test.each([
  ['too few steps for two batches', marks(2 * PART - 1, 'a', 'b')],
  ['too few steps besides one account', [...marks(4 * PART, 'a'), ...marks(PART - 1, 'b')]],
  ['one account', marks(4 * PART, 'a')],
])('%s: one batch', async (_, steps) => {
  const { begun, commits } = commandedStore();
  const all = steps.map(commits.submit);
  await turn();
  expect(begun.map(({ steps }) => steps.length)).toEqual([steps.length]);
  begun[0]?.end();
  await Promise.all(all);
});

test('while a batch runs, the next begins with the sixteenth step of other accounts, and none of its own', async () => {
  const { begun, commits } = commandedStore();
  const all = [commits.submit(markOf('a', 'first')), turn()];
  await turn();
  for (const step of [...marks(PART, 'a'), ...marks(PART - 1, 'b')]) all.push(commits.submit(step));
  await turn();
  expect(begun).toHaveLength(1);
  all.push(commits.submit(markOf('c', 'last')));
  await turn();
  expect(begun.map(accountsOf)).toEqual([new Set(['a']), new Set(['b', 'c'])]);
  begun[0]?.end();
  await turns(GATHERING_TURNS + 1);
  expect(begun.slice(2).map(accountsOf)).toEqual([new Set(['a'])]);
  for (const { end } of begun.slice(1)) end();
  await Promise.all(all);
});

test('a batch that follows another takes the steps of the three turns after it', async () => {
  const { begun, running, commits } = commandedStore();
  const all = marks(7, 'a').map(commits.submit);
  await turn();
  all.push(commits.submit(markOf('a', 'waits')));
  begun[0]?.end();
  // The answered callers go on with their next steps.
  await all[0];
  for (let passed = 0; passed < GATHERING_TURNS; passed++) {
    all.push(commits.submit(markOf('a', `turn_${passed}`)));
    await turn();
    expect(begun).toHaveLength(1);
  }
  await turn();
  expect(begun.map(({ steps }) => steps.length)).toEqual([7, 1 + GATHERING_TURNS]);
  await endAll(running, all);
});

test.each([1, PART])('a batch waits no longer once %d answered callers are all back', async (count) => {
  const { begun, running, commits } = commandedStore(3_600_000);
  const first = marks(count, 'a').map(commits.submit);
  await turn();
  begun[0]?.end();
  await Promise.all(first);
  const next = marks(count, 'a').map(commits.submit);
  await turns(2);
  expect(begun.map(({ steps }) => steps.length)).toEqual([count, count]);
  await endAll(running, next);
});

test('a batch that follows a larger one begins with the step that makes it as large', async () => {
  const { begun, running, commits } = commandedStore(3_600_000);
  const first = marks(PART, 'a').map(commits.submit);
  await turn();
  begun[0]?.end();
  await Promise.all(first);
  const next = marks(PART - 1, 'a').map(commits.submit);
  await turns(3 * GATHERING_TURNS);
  expect(begun).toHaveLength(1);
  next.push(commits.submit(markOf('a', 'last')));
  await turns(2);
  expect(begun.map(({ steps }) => steps.length)).toEqual([PART, PART]);
  await endAll(running, next);
});

test('a batch that follows a larger one waits for its size a short time only', async () => {
  const { begun, running, commits } = commandedStore();
  const first = marks(PART, 'a').map(commits.submit);
  await turn();
  begun[0]?.end();
  await Promise.all(first);
  await endAll(running, [commits.submit(markOf('a', 'alone'))]);
  expect(begun.map(({ steps }) => steps.length)).toEqual([PART, 1]);
});

test('no third batch runs unless it waits for a lock, and one place is left for batches that do not wait', async () => {
  const { begun, running, commits } = commandedStore();
  const all = marks(4 * PART, 'a', 'b', 'c', 'd').map(commits.submit);
  await turn();
  expect(begun).toHaveLength(2);
  for (const step of marks(4 * PART, 'e', 'f', 'g', 'h')) all.push(commits.submit(step));
  await turn();
  expect(running.size).toBe(2);
  for (const { steps, end } of [...running]) end(steps.map(() => ({ type: 'busy' })));
  await turn();
  expect(begun.filter(({ waits }) => waits)).toHaveLength(AT_ONCE - 1);
  expect(running.size).toBe(AT_ONCE);
  await endAll(running, all);
});

test('a batch that fails rejects its own callers while the other one goes on', async () => {
  const { begun, running, commits } = commandedStore();
  const settled: string[] = [];
  const all = marks(2 * PART, 'a', 'b').map((step) =>
    commits.submit(step).then(
      () => void settled.push('done'),
      () => void settled.push('failed'),
    ),
  );
  await turn();
  begun[0]?.fail(new Error('refused'));
  // Its steps are tried one by one, so that one of them cannot fail the others.
  for (let step = 0; step < PART; step++) {
    await turn();
    const alone = [...running].find(({ steps }) => steps.length === 1);
    if (step === 0) alone?.fail(new Error('refused'));
    else alone?.end();
  }
  await turn();
  expect(settled).toEqual(['failed', ...Array<string>(PART - 1).fill('done')]);
  expect([...running].map(accountsOf)).toEqual([new Set(['b'])]);
  begun[1]?.end();
  await Promise.all(all);
  expect(settled.filter((word) => word === 'done')).toHaveLength(2 * PART - 1);
});

test('of steps that are tried one by one, those of a locked account stay in order', async () => {
  const { begun, running, commits } = commandedStore();
  const steps = [...marks(2, 'a'), markOf('b', 'other')];
  const all = steps.map(commits.submit);
  await turn();
  begun[0]?.fail(new Error('refused'));
  await turn();
  begun[1]?.end([{ type: 'busy' }]);
  await turn();
  expect(begun[2]?.steps).toEqual([steps[2]!]);
  begun[2]?.end();
  await turn();
  expect(begun[3]?.steps).toEqual(steps.slice(0, 2));
  await endAll(running, all);
});

test('whatever ends when: no two batches have an account in common, and the steps of each account stay in order', async () => {
  const act = fc.oneof(
    { weight: 3, arbitrary: fc.record({ account: fc.nat({ max: 7 }), steps: fc.integer({ min: 1, max: 24 }) }) },
    { weight: 2, arbitrary: fc.record({ ended: fc.nat(), isBusy: fc.boolean() }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 40 }), async (acts) => {
      const { running, commits } = commandedStore();
      const asked = new Map<string, string[]>();
      const done = new Map<string, string[]>();
      const all: Promise<unknown>[] = [];
      const check = () => {
        const accounts = [...running].flatMap((batch) => [...accountsOf(batch)]);
        expect(new Set(accounts).size).toBe(accounts.length);
        expect(running.size).toBeLessThanOrEqual(AT_ONCE);
        expect([...running].filter(({ waits }) => !waits).length).toBeLessThanOrEqual(2);
      };
      for (const one of acts) {
        if ('ended' in one) {
          const batch = [...running][one.ended % Math.max(1, running.size)];
          const isBusy = one.isBusy && batch?.waits === false;
          batch?.end(isBusy ? batch.steps.map(() => ({ type: 'busy' })) : undefined);
        } else {
          const account = `acc_${one.account}`;
          for (let step = 0; step < one.steps; step++) {
            const callId = `call_${all.length}`;
            asked.set(account, [...(asked.get(account) ?? []), callId]);
            const ended = () => done.set(account, [...(done.get(account) ?? []), callId]);
            all.push(commits.submit(markOf(account, callId)).then(ended));
          }
        }
        await turn();
        check();
      }
      await endAll(running, all, check);
      expect(done).toEqual(asked);
    }),
    { numRuns: 40 },
  );
});

/** Ends batches until all steps are done. Those found locked are tried again after a pause. */
async function endAll(
  running: ReadonlySet<Running>,
  all: readonly Promise<unknown>[],
  check = () => {},
): Promise<void> {
  let left = all.length;
  for (const one of all) void one.then(() => left--);
  while (left > 0) {
    for (const { end } of [...running]) end();
    await (running.size > 0 ? turn() : Bun.sleep(1));
    check();
  }
}
