/** Verification with signed checkpoints: what later runs read and find, and that only one runs at a time. */
import { describe, expect, test } from 'bun:test';
import { freshStore, LEDGER_ENGINES } from '../../test/helpers/engines.ts';
import { openSmallLedger } from '../../test/helpers/small-ledger.ts';
import { CHAIN_START, entryHash } from '../store/ledger/entry-hash.ts';
import type { Store } from '../store/store.ts';
import { createVerifier } from './verifier.ts';

const KEY = 'the key of a test, which the database does not hold';
const verifierOf = (store: Store, owner = 'one', key: string | undefined = KEY) =>
  createVerifier({
    store,
    owner,
    key: () => key,
    now: Date.now,
    reportError: (sentence, cause) => {
      throw new Error(sentence, { cause });
    },
  });

describe.each(LEDGER_ENGINES)('verification over $name', (engine) => {
  test('reads only what is new since the last one, and everything on request', async () => {
    const { store } = await freshStore(engine);
    const small = await openSmallLedger(store);
    await small.calls(60);
    const verifier = verifierOf(store);
    const first = await verifier.verify();
    expect(first).toMatchObject({ ok: true, accounts: 2, entries: 42, read: { entries: 42, calls: 60 } });
    expect(await verifier.verify()).toMatchObject({ ...first, read: { entries: 0, calls: 0 } });
    await small.calls(2);
    // Their hour contains five earlier calls.
    expect(await verifier.verify()).toMatchObject({ ok: true, entries: 43, read: { entries: 1, calls: 7 } });
    expect(await verifier.verify({ full: true })).toMatchObject({
      ok: true,
      entries: 43,
      read: { entries: 43, calls: 62 },
    });
    await store.close();
  });

  test('ignores checkpoints of another key, and makes none without a key', async () => {
    const { store } = await freshStore(engine);
    await (await openSmallLedger(store)).calls(30);
    await verifierOf(store).verify();
    const other = verifierOf(store, 'two', 'another key of the same length, more or less');
    expect((await other.verify()).read.entries).toBe(22);
    const none = createVerifier({ store, owner: 'three', key: () => undefined, now: Date.now, reportError: () => {} });
    for (const _ of [1, 2]) expect((await none.verify()).read.entries).toBe(22);
    await store.close();
  });

  test('finds an altered row below the checkpoint when it reads everything', async () => {
    const { store, tamper } = await freshStore(engine);
    await (await openSmallLedger(store)).calls(30);
    const verifier = verifierOf(store);
    await verifier.verify();
    await tamper("UPDATE entries SET amount = amount - 1 WHERE account = 'acc_a' AND seq = 3");
    expect((await verifier.verify()).ok).toBe(true);
    const { ok, findings } = await verifier.verify({ full: true });
    expect(ok).toBe(false);
    expect(findings.some(({ kind, fault }) => kind === 'entry' && fault.includes('Entry 3 of account acc_a'))).toBe(
      true,
    );
    await store.close();
  });

  test('finds history that was rewritten with valid hashes, because it does not match the signature', async () => {
    const { store, tamper } = await freshStore(engine);
    await (await openSmallLedger(store)).calls(30);
    await writeAnew(store, tamper);
    // Someone with write access to all tables can make them consistent.
    expect((await verifierOf(store).verify({ full: true })).faults).toEqual([]);
    await tamper('DELETE FROM ledger_checkpoints');
    const verifier = verifierOf(store);
    await verifier.verify();
    await writeAnew(store, tamper);
    for (const full of [false, true]) {
      const { ok, findings } = await verifier.verify({ full });
      expect(ok).toBe(false);
      expect(findings[0]).toMatchObject({ kind: 'checkpoint', account: 'acc_a' });
      expect(findings[0]?.fault).toContain('was altered after it was verified');
    }
    await store.close();
  });

  test('finds removed entries and forged checkpoints', async () => {
    const { store, tamper } = await freshStore(engine);
    await (await openSmallLedger(store)).calls(30);
    const verifier = verifierOf(store);
    await verifier.verify();
    await tamper(
      "UPDATE ledger_checkpoints SET body = replace(body, '\"seq\":11', '\"seq\":9') WHERE subject = 'account acc_b'",
    );
    const forged = await verifier.verify();
    expect(forged.findings).toEqual([
      {
        kind: 'checkpoint',
        account: 'acc_b',
        fault: expect.stringContaining('The checkpoint of account acc_b was altered'),
      },
    ]);
    expect(forged.read.entries).toBe(11);
    const [, ...last] = (await store.entries('acc_a', { limit: 100 })).slice(-2);
    const before = (await store.entries('acc_a', { limit: 100 })).at(-2);
    await tamper(`DELETE FROM entries WHERE account = 'acc_a' AND seq = ${last[0]?.seq}`);
    await tamper(
      `UPDATE accounts SET last_seq = ${before?.seq}, last_hash = '${before?.hash}', balance = ${before?.balanceAfter} WHERE id = 'acc_a'`,
    );
    const removed = await verifier.verify();
    expect(removed.findings.some(({ kind, fault }) => kind === 'checkpoint' && fault.includes('were removed'))).toBe(
      true,
    );
    await store.close();
  });

  test('reports no faults while calls run', async () => {
    const { store } = await freshStore(engine);
    const small = await openSmallLedger(store);
    const verifier = verifierOf(store);
    let isOver = false;
    let batches = 0;
    const calling = (async () => {
      while (!isOver) {
        await small.calls(5);
        batches++;
        await Bun.sleep(1);
      }
    })();
    const faults: string[] = [];
    for (let run = 0; run < 12; run++) faults.push(...(await verifier.verify({ full: run % 4 === 3 })).faults);
    isOver = true;
    await calling;
    expect(faults).toEqual([]);
    expect(batches).toBeGreaterThan(3);
    expect(await verifier.verify({ full: true })).toMatchObject({ ok: true });
    await store.close();
  });
});

describe('one verification at a time', () => {
  const [engine] = LEDGER_ENGINES;
  if (!engine) throw new Error('no engine');

  /** A store whose verifications end on command. */
  async function heldStore() {
    const { store } = await freshStore(engine as NonNullable<typeof engine>);
    const ends: (() => void)[] = [];
    const held: Store = {
      ...store,
      async verify(options) {
        const end = Promise.withResolvers<void>();
        ends.push(end.resolve);
        options?.progress?.({ done: 3, total: 10 });
        await end.promise;
        return store.verify(options);
      },
    };
    return { store, held, ends };
  }

  const until = async (isSo: () => boolean) => {
    for (const end = Date.now() + 10_000; !isSo() && Date.now() < end; ) await Bun.sleep(1);
    expect(isSo()).toBe(true);
  };

  test('a request during a verification shares it, and one that reads more waits for it', async () => {
    const { store, held, ends } = await heldStore();
    const verifier = verifierOf(held);
    const both = [verifier.verify(), verifier.verify()];
    const full = verifier.verify({ full: true });
    await until(() => ends.length === 1);
    ends[0]?.();
    const [one, other] = await Promise.all(both);
    expect(one).toBe(other as NonNullable<typeof other>);
    await until(() => ends.length === 2);
    ends[1]?.();
    expect(await full).toMatchObject({ ok: true });
    expect(ends.length).toBe(2);
    await store.close();
  });

  test('another process waits and sees the progress, and no request waits longer than requested', async () => {
    const { store, held, ends } = await heldStore();
    const one = verifierOf(held, 'one');
    const other = verifierOf(held, 'other');
    expect(await one.ask({}, 1)).toMatchObject({ done: expect.any(Number), startedAt: expect.any(Number) });
    await until(() => ends.length === 1);
    expect(await other.ask({}, 1)).toMatchObject({ startedAt: expect.any(Number) });
    expect(await other.running()).toBeDefined();
    await Bun.sleep(5);
    expect(ends.length).toBe(1);
    ends[0]?.();
    await until(() => ends.length === 2);
    ends[1]?.();
    // Both were answered with 202: each gets its report once.
    const answers = [await one.ask({}, 5000), await other.ask({}, 5000)];
    for (const answer of answers) expect(answer).toMatchObject({ ok: true });
    expect(ends.length).toBe(2);
    await store.close();
  });
});

/** Rewrites an older entry with all later hashes and balances and the account's row, as someone with write access to all tables can. */
async function writeAnew(store: Store, tamper: (text: string) => Promise<void>): Promise<void> {
  let [previous, balance] = [CHAIN_START, 0n];
  const statements: string[] = [];
  for (const entry of await store.entries('acc_a', { limit: 1000 })) {
    const note = entry.seq === 1 ? `${entry.note}!` : entry.note;
    balance += entry.amount;
    const rewritten = { ...entry, balanceAfter: balance, ...(note !== undefined && { note }) };
    previous = entryHash(previous, rewritten);
    const set = entry.seq === 1 ? `note = note || '!', ` : '';
    statements.push(`UPDATE entries SET ${set}hash = '${previous}' WHERE account = 'acc_a' AND seq = ${entry.seq}`);
  }
  await tamper(statements.join('; '));
  await tamper(`UPDATE accounts SET last_hash = '${previous}' WHERE id = 'acc_a'`);
}
