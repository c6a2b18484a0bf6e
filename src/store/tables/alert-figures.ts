/** What alerts about money are computed from. Read in the background, never for a call. */
import type { AlertStore, BudgetUse, LowBalance } from '../alerts.ts';
import { type Database, raw, type Statement, sql, where } from '../database.ts';
import { committed, turnTo } from '../ledger/spending.ts';
import { toSpending, type WindowColumns } from './key-table.ts';
import { type LimitColumns, limitsFrom } from './limit-columns.ts';

interface UseColumns extends LimitColumns, WindowColumns {
  id: string;
  name: string;
  account: string;
  held: bigint;
  total: bigint;
}

const WINDOW_COLUMNS = [
  ...['day', 'day_spent', 'month', 'month_spent'],
  ...['prior_day', 'prior_day_spent', 'prior_month', 'prior_month_spent', 'late_since'],
];
/** A key that was not used yet has no row of its spending. */
const SPENT = ['held', 'total', ...WINDOW_COLUMNS]
  .map((name) => `COALESCE(spendings.${name}, 0) AS ${name}`)
  .join(', ');
/** As in the indexes `keys_with_budget` and `accounts_with_budget`. */
const HAS_BUDGET = 'budget_total IS NOT NULL OR budget_day IS NOT NULL OR budget_month IS NOT NULL';

/** The columns of accounts are named as those of keys. */
const SOURCES = {
  account: raw(
    `(SELECT accounts.*, accounts.id AS account, accounts.spent AS total FROM accounts WHERE ${HAS_BUDGET}) AS uses`,
  ),
  key: raw(
    `(SELECT keys.id, keys.name, keys.account, keys.disabled_at, keys.budget_total, keys.budget_day, keys.budget_month,
      keys.requests_per_minute, keys.tokens_per_minute, keys.concurrency, ${SPENT}
      FROM keys LEFT JOIN spendings ON spendings.key = keys.id WHERE ${HAS_BUDGET}) AS uses`,
  ),
};

export function alertFigures(
  db: Database,
): Pick<AlertStore, 'budgetUses' | 'budgetUse' | 'lowBalances' | 'rearmBalances' | 'changedPrices'> {
  /** The ids of the next rows of `table`, at most `limit`: SQLite answers in the thread of the calls, so no statement may read everything. */
  async function partOf(table: Statement, after: string, limit: number) {
    const [last] = await db.all<{ id: string }>(
      sql`SELECT id FROM ${table} id > ${after} ORDER BY id LIMIT 1 OFFSET ${limit - 1}`,
    );
    const range = last ? sql`id > ${after} AND id <= ${last.id}` : sql`id > ${after}`;
    return { range, next: last ? { next: last.id } : {} };
  }

  return {
    async budgetUses(kind, percent, now, { limit, after = '' }) {
      // A window may be over: what is left of it is decided below.
      const part = await partOf(raw(`${kind === 'key' ? 'keys' : 'accounts'} WHERE (${HAS_BUDGET}) AND`), after, limit);
      const rows = await db.all<UseColumns>(
        sql`SELECT * FROM ${SOURCES[kind]} WHERE ${part.range} AND disabled_at IS NULL AND (
            (total + held) * 100 >= budget_total * ${percent} OR (day_spent + held) * 100 >= budget_day * ${percent}
            OR (month_spent + held) * 100 >= budget_month * ${percent})
          ORDER BY id`,
      );
      return { rows: rows.map((row) => toUse(kind, row, now)), ...part.next };
    },
    async budgetUse(kind, id, now) {
      const [row] = await db.all<UseColumns>(sql`SELECT * FROM ${SOURCES[kind]} WHERE id = ${id}`);
      return row && toUse(kind, row, now);
    },
    async lowBalances(below, { limit, after = '' }) {
      const part = await partOf(raw('accounts WHERE'), after, limit);
      const rows = await db.all<LowBalance>(
        sql`SELECT id, name, balance FROM accounts WHERE ${part.range} AND balance < ${below} AND spent > 0
            AND disabled_at IS NULL ORDER BY id`,
      );
      return { rows, ...part.next };
    },
    async rearmBalances(rule, below) {
      const enough = sql`SELECT 1 FROM accounts WHERE accounts.id = alerts.subject AND balance >= ${below}`;
      await db.all(
        sql`UPDATE alerts SET dedupe = NULL WHERE rule = ${rule} AND dedupe IS NOT NULL AND EXISTS (${enough})`,
      );
    },
    async changedPrices(since) {
      const before = sql`SELECT 1 FROM prices AS earlier WHERE earlier.model = prices.model AND earlier.seq < prices.seq`;
      const rows = await db.all<{ id: string; model: string; created_at: bigint; effective_at: bigint | null }>(
        sql`SELECT id, model, created_at, effective_at FROM prices ${where([sql`created_at >= ${since}`, sql`EXISTS (${before})`])} ORDER BY seq`,
      );
      return rows.map(({ id, model, created_at, effective_at }) => ({
        id,
        model,
        createdAt: Number(created_at),
        ...(effective_at !== null && { effectiveAt: Number(effective_at) }),
      }));
    },
  };
}

function toUse(kind: BudgetUse['kind'], row: UseColumns, now: number): BudgetUse {
  const spending = toSpending(row);
  turnTo(spending, now);
  const { id, name, account } = row;
  return { kind, id, name, account, budget: limitsFrom(row).budget ?? {}, used: committed(spending, now) };
}
