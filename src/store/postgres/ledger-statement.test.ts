import { describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { hasPostgres, testPostgres } from '../../../test/helpers/postgres.ts';
import { type AccountBooks, applySteps, type LedgerChanges } from '../ledger/ledger-rules.ts';
import { openStore } from '../open-store.ts';
import { type DecidedBatch, ledgerStatement } from './ledger-statement.ts';

const BOOKS: AccountBooks = {
  id: 'acc_1',
  balance: 5n,
  held: 5n,
  lastSeq: 1,
  lastHash: 'h',
  total: 0n,
  day: 0,
  daySpent: 0n,
  month: 0,
  monthSpent: 0n,
  priorDay: 0,
  priorDaySpent: 0n,
  priorMonth: 0,
  priorMonthSpent: 0n,
  lateSince: 0,
};
const HOLD = { account: 'acc_1', key: 'key_1', amount: 5n };
const NO_CHANGES = applySteps([], undefined as never).changes;
const CHANGES: LedgerChanges = {
  ...NO_CHANGES,
  accounts: new Set([BOOKS]),
  opened: new Map([['call_2', { callId: 'call_2', ...HOLD, model: 'm', priceId: 'p', at: 1, owner: 'o' }]]),
};
const BATCH: DecidedBatch = {
  accounts: [{ books: BOOKS, version: 1n }],
  taken: new Map([['call_1', HOLD]]),
  changes: CHANGES,
  writer: 'w',
};

test("a statement has parts only for the batch's rows, and amounts as text", () => {
  const { text, values } = ledgerStatement(BATCH);
  expect(values).toHaveLength(3);
  expect(text).not.toContain('INSERT INTO calls');
  expect(JSON.parse(String(values[1]))).toEqual([{ call_id: 'call_1', ...HOLD, amount: '5' }]);
  const marks = {
    ...CHANGES,
    accounts: new Set<AccountBooks>(),
    opened: new Map(),
    marks: [{ callId: 'c', checkpoint: 2n }],
  };
  const marked = ledgerStatement({
    accounts: [],
    taken: new Map(),
    writer: 'w',
    changes: { ...marks, marks: [{ type: 'mark', callId: 'c', checkpoint: 2n }] },
  });
  expect(marked.values).toEqual(['[{"call_id":"c","checkpoint":"2"}]']);
  expect(marked.text).not.toContain('FOR UPDATE');
});

describe.skipIf(!hasPostgres)('on empty tables', () => {
  test.each(['as they were made', 'as they were counted'])(
    '%s finds every account and hold by index',
    async (state) => {
      const databaseUrl = await (await testPostgres()).freshDatabase();
      const store = await openStore({ dataDir: '', databaseUrl });
      await store.migrate();
      const sql = new SQL({ url: databaseUrl, max: 1, connection: { enable_seqscan: 'off' } });
      if (state === 'as they were counted') await sql.unsafe('ANALYZE accounts, holds');
      const { text, values } = ledgerStatement(BATCH);
      const literal = text.replace(/\$(\d+)/g, (_, place) => `'${values[Number(place) - 1]}'`);
      const plan = (await sql.unsafe<{ 'QUERY PLAN': string }[]>(`EXPLAIN ${literal}`)).map((row) => row['QUERY PLAN']);
      const scans = plan.flatMap((line, at) =>
        /Scan.* (on|using) (accounts|holds)/.test(line) ? [plan[at + 1]?.trim()] : [],
      );
      expect(scans.length).toBeGreaterThan(3);
      for (const below of scans) expect(below).toMatch(/^(Index|Recheck) Cond: \(/);
      await sql.close();
      await store.close();
    },
    60_000,
  );
});
