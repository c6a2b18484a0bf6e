/** The sums behind reports are proved from the calls; calls recorded by an older release are distinguished from faults. */
import { describe, expect, test } from 'bun:test';
import { callRow } from '../../test/helpers/call-row.ts';
import { freshStore, LEDGER_ENGINES } from '../../test/helpers/engines.ts';
import { newId } from '../canonical/id.ts';
import type { CallRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { repairBooks } from './repair.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 9, 23);
const NOW = START + 3 * DAY;

const end = (store: Store, rows: readonly CallRow[]) =>
  store.ledger(rows.map((row) => ({ type: 'resolve', callId: row.id, amount: row.cost, call: row })));

/** Of two days, two providers and two tags, a part of them with what the provider charges. */
const CALLS = Array.from({ length: 60 }, (_, index) =>
  callRow({
    id: `call_${index}`,
    at: START + index * 47 * 60_000,
    account: `acc_${index % 2}`,
    key: `key_${index % 2}`,
    provider: index % 3 === 0 ? 'p1' : 'p0',
    cost: BigInt(index % 4),
    saved: BigInt(index % 5),
    receipt: '[]',
    usage: { input: index, output: 2 * index, source: 'reported' },
    ...(index % 2 === 0 && { providerCost: BigInt(index % 3) }),
    ...(index % 5 === 0 && { tags: index % 10 === 0 ? ['a', 'b'] : ['a'] }),
  }),
);

async function withCalls(engine: (typeof LEDGER_ENGINES)[number]) {
  const made = await freshStore(engine);
  for (const id of ['acc_0', 'acc_1'])
    await made.store.createAccount({ id, name: id, balance: 0n, held: 0n, createdAt: START });
  await made.store.tidy(START);
  await end(made.store, CALLS);
  // One whose process was assumed dead and settles it after all.
  const lost = callRow({ id: 'lost', at: START + HOUR, account: 'acc_0', key: 'key_0', provider: '', cost: 9n });
  await end(made.store, [{ ...lost, provisional: true }]);
  await end(made.store, [{ ...lost, provider: 'p1', cost: 2n, tags: ['a'], receipt: '[]' }]);
  await made.store.tidy(NOW);
  return made;
}

const FIRST = `hour = ${START / HOUR}`;
const DAMAGE: [what: string, damage: string, fault: RegExp][] = [
  [
    'a column of a sum by provider',
    `UPDATE usage_sums SET saved = saved + 1 WHERE tag = '' AND provider = 'p1' AND ${FIRST}`,
    /^The sum of account acc_0, key key_0, model m, provider "p1" in the hour of 2026-10-23T00:00:00.000Z is wrong: saved 1 instead of 0\.$/m,
  ],
  [
    'a sum by provider that is gone',
    `DELETE FROM usage_sums WHERE tag = '' AND provider = 'p0' AND ${FIRST}`,
    /account acc_1, key key_1, model m, provider "p0" .* calls 0 instead of 1, cost 0 instead of 1, input_tokens 0 instead of 1/,
  ],
  [
    'calls that moved to another provider',
    `UPDATE usage_sums SET provider = 'p2' WHERE tag = '' AND provider = 'p0' AND ${FIRST}`,
    /provider "p2" .* calls 1 instead of 0/,
  ],
  [
    'what providers charge',
    `UPDATE call_sums SET provider_cost = provider_cost + 3 WHERE account = 'acc_0' AND ${FIRST}`,
    /account acc_0, key key_0, model m in the hour .* is wrong: provider_cost 3 instead of 0\./,
  ],
  [
    'a sum by tag',
    `UPDATE usage_sums SET calls = 5, cost = 0 WHERE tag = 'b' AND ${FIRST}`,
    /provider "p1", tag "b" in the hour of .* calls 5 instead of 1\.$/m,
  ],
  ['a tag of a call', `DELETE FROM call_tags WHERE id = 'call_10'`, /provider "p0", tag "a" .* calls 1 instead of 0/],
  [
    'a sum of a day',
    `UPDATE usage_days SET cost = cost + 1 WHERE day = ${START / DAY} AND account = 'acc_1' AND provider = 'p1' AND tag = ''`,
    /^The sum of account acc_1, key key_1, model m, provider "p1" on 2026-10-23 is wrong: cost \d+ instead of \d+\.$/m,
  ],
  [
    'a sum of a day by tag that is gone',
    `DELETE FROM usage_days WHERE day = ${START / DAY} AND tag = 'b'`,
    /tag "b" on 2026-10-23 is wrong: calls 0 instead of/,
  ],
];

describe.each(LEDGER_ENGINES)('$name', (engine) => {
  test.each(DAMAGE)('%s is found, named and repaired', async (_, damage, fault) => {
    const { store, tamper } = await withCalls(engine);
    const report = () => store.usage({ from: START, to: NOW, groupBy: ['account', 'provider', 'tag'] });
    const before = await report();
    expect(await store.verify()).toMatchObject({ ok: true, faults: [], notes: [] });
    await tamper(damage);
    const damaged = await store.verify();
    expect(damaged.ok).toBe(false);
    expect(damaged.faults.join('\n')).toMatch(fault);
    const audit = () => () => ({ id: newId('audit_'), at: 1, actor: 'cli', action: 'ledger.repaired', subject: 's' });
    const preview = await repairBooks(store, damaged, false, audit);
    const repaired = await repairBooks(store, damaged, true, audit);
    expect(repaired).toEqual(preview);
    expect(repaired.left).toEqual([]);
    expect(repaired.corrections.length).toBeGreaterThan(0);
    expect(await store.verify({ full: true })).toMatchObject({ ok: true, faults: [] });
    if (!damage.includes('call_tags')) expect(await report()).toEqual(before);
    await store.tidy(NOW);
    expect(await store.verify()).toMatchObject({ ok: true, faults: [] });
    await store.close();
  });

  test('calls of an older release, beside or before this one, are a note and no fault', async () => {
    const { store, tamper } = await withCalls(engine);
    const columns =
      'account, key, model, target_model, dialect, upstream_dialect, stream, status, outcome, attempts, price_id, duration_ms';
    const older = (id: string, at: number, saved: number) =>
      tamper(`INSERT INTO calls (id, at, provider, cost, input_tokens, output_tokens, saved, ${columns})
      SELECT '${id}', ${at}, 'p0', 0, 7, 8, ${saved}, ${columns} FROM calls WHERE id = 'call_0'`);
    const summed = (at: number, saved: number) =>
      tamper(`INSERT INTO call_sums AS sums (account, hour, key, model, calls, cost, input_tokens, output_tokens, saved)
      VALUES ('acc_0', ${Math.floor(at / HOUR)}, 'key_0', 'm', 1, 0, 7, 8, ${saved})
      ON CONFLICT (account, hour, key, model) DO UPDATE SET calls = sums.calls + 1, input_tokens = sums.input_tokens + 7, output_tokens = sums.output_tokens + 8, saved = sums.saved + excluded.saved`);
    // One in an hour with calls of this release, after its day was summed; one in an hour of its own, today.
    for (const [id, at, saved] of [
      ['old_1', START + 5, -9],
      ['old_2', NOW + 5, 9],
    ] as const) {
      await older(id, at, saved);
      await summed(at, saved);
    }
    const report = await store.verify();
    expect(report).toMatchObject({ ok: true, faults: [] });
    expect(report.notes).toEqual([
      'Calls of an older release in no sum by provider: 2. Reports show them without a provider.',
      'Calls that an older release recorded after their day was summed: 1. Reports by day or longer lack them.',
    ]);
    // What they cannot explain is still a fault.
    await tamper(
      `UPDATE usage_sums SET input_tokens = input_tokens + 1 WHERE tag = '' AND provider = 'p0' AND hour = ${START / HOUR + 46}`,
    );
    await tamper(`UPDATE usage_sums SET calls = calls - 2 WHERE tag = '' AND provider = 'p1' AND ${FIRST}`);
    const { faults } = await store.verify();
    expect(faults).toHaveLength(2);
    expect(faults.join('\n')).toContain(
      'provider "p1" in the hour of 2026-10-23T00:00:00.000Z is wrong: calls -1 instead of 1.',
    );
    await store.close();
  });

  test('a provisional record that one release made and another replaced is no fault', async () => {
    const { store, tamper } = await withCalls(engine);
    const at = START + HOUR;
    const lost = callRow({
      id: 'lost_2',
      at,
      account: 'acc_1',
      key: 'key_1',
      provider: '',
      cost: 9n,
      provisional: true,
    });
    // This release made it, an older one replaces it.
    await end(store, [lost, { ...lost, id: 'lost_3', key: 'key_3' }]);
    expect(await store.verify()).toMatchObject({ ok: true, faults: [], notes: [] });
    const tokens = 'input_tokens = input_tokens + 7, output_tokens = output_tokens + 8';
    await tamper(`UPDATE calls SET provisional = 0, provider = 'p1', ${tokens} WHERE id = 'lost_2'`);
    await tamper(`UPDATE call_sums SET ${tokens} WHERE key = 'key_1' AND hour = ${at / HOUR}`);
    // An older release made it, this one replaces it.
    await tamper(`DELETE FROM usage_sums WHERE key = 'key_3'`);
    const { provisional: _, ...found } = lost;
    await end(store, [{ ...found, id: 'lost_3', key: 'key_3', provider: 'p1', receipt: '[]' }]);
    for (const full of [false, true]) expect(await store.verify({ full })).toMatchObject({ ok: true, faults: [] });
    await tamper(`UPDATE usage_sums SET calls = calls + 2 WHERE provider = '' AND key = 'key_1' AND tag = ''`);
    const { faults } = await store.verify({ full: true });
    expect(faults).toEqual([
      expect.stringContaining('model m, provider "" in the hour of 2026-10-23T01:00:00.000Z is wrong: calls 3'),
    ]);
    await store.close();
  });

  test('removed calls are no fault, and their sums of days are still compared with those of hours', async () => {
    const { store, tamper } = await withCalls(engine);
    await store.tidy(NOW, START + DAY);
    expect(await store.verify()).toMatchObject({ ok: true, faults: [], notes: [] });
    await tamper(
      `UPDATE usage_days SET calls = calls + 1 WHERE day = ${START / DAY} AND provider = 'p1' AND tag = 'b'`,
    );
    const { faults } = await store.verify();
    expect(faults).toEqual([expect.stringContaining('tag "b" on 2026-10-23 is wrong: calls')]);
    await store.close();
  });
});
