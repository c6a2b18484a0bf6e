import { expect, test } from 'bun:test';
import type { LedgerOutcome, LedgerStep } from '../store/rows.ts';
import { createGroupCommit } from './group-commit.ts';

const mark = (callId: string, checkpoint = 0n) => ({ type: 'mark', callId, checkpoint }) as const;
const turn = () => new Promise((resolve) => setImmediate(resolve));
const names = (steps: readonly LedgerStep[]) => steps.map((step) => (step.type === 'mark' ? step.callId : step.type));

/** A store that records its batches and ends each on command. */
function slowStore() {
  const batches: string[][] = [];
  const ends: (() => void)[] = [];
  const commit = (steps: readonly LedgerStep[]) =>
    new Promise<LedgerOutcome[]>((resolve) => {
      batches.push(names(steps));
      ends.push(() => resolve(steps.map(() => ({ type: 'marked' }))));
    });
  return { batches, ends, commit };
}

test('steps of one turn are one batch, and steps that arrive meanwhile are the next, started when the first ends', async () => {
  const { batches, ends, commit } = slowStore();
  const commits = createGroupCommit(commit);
  const first = [commits.submit(mark('a')), commits.submit(mark('b'))];
  expect(batches).toEqual([]);
  await turn();
  expect(batches).toEqual([['a', 'b']]);
  const next = commits.submit(mark('c'));
  await turn();
  void commits.submit(mark('d'));
  expect(batches).toHaveLength(1);
  ends[0]?.();
  expect(await Promise.all(first)).toEqual([{ type: 'marked' }, { type: 'marked' }]);
  await turn();
  expect(batches).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  ends[1]?.();
  await next;
});

test('a batch that fails rejects each of its callers and none of the next batch', async () => {
  let fails = true;
  const commits = createGroupCommit(async (steps) => {
    if (fails) throw new Error('disk full');
    return steps.map(() => ({ type: 'marked' }));
  });
  const results = await Promise.allSettled([commits.submit(mark('a')), commits.submit(mark('b'))]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await commits.submit(mark('c'))).toEqual({ type: 'marked' });
});

test('only the newest checkpoint of a call is written later, and none after the call has ended', async () => {
  const batches: LedgerStep[][] = [];
  const commits = createGroupCommit(async (steps) => {
    batches.push([...steps]);
    return steps.map(() => ({ type: 'marked' }));
  });
  commits.note(mark('a', 1n));
  commits.note(mark('a', 2n));
  commits.note(mark('b', 3n));
  commits.forget('b');
  await commits.submit(mark('c'));
  expect(batches).toEqual([[mark('c')]]);
  await commits.flush();
  expect(batches).toEqual([[mark('c')], [mark('a', 2n)]]);
});

test('a checkpoint that fails is reported by flush and tried again', async () => {
  let fails = true;
  const seen: string[][] = [];
  const commits = createGroupCommit(async (steps) => {
    if (fails) throw new Error('disk full');
    seen.push(names(steps));
    return steps.map(() => ({ type: 'marked' }));
  });
  commits.note(mark('a', 1n));
  await expect(commits.flush()).rejects.toThrow('disk full');
  fails = false;
  await commits.flush();
  expect(seen).toEqual([['a']]);
});

test('flush waits for more than one batch', async () => {
  let done = 0;
  const commits = createGroupCommit(async (steps) => {
    await Bun.sleep(1);
    done += steps.length;
    return steps.map(() => ({ type: 'marked' }));
  });
  for (let i = 0; i < 1200; i++) void commits.submit(mark(`call_${i}`));
  await commits.flush();
  expect(done).toBe(1200);
});
