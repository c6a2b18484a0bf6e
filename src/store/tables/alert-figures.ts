/** What alerts about money are computed from. Read in the background, never for a call. */
import type { AlertStore, BudgetUse } from '../alerts.ts';
import { type Database, raw, sql, where } from '../database.ts';
import { committed, turnTo } from '../spending.ts';
import { type WindowColumns, windowsFrom } from './key-table.ts';
import { type LimitColumns, limitsFrom } from './limit-columns.ts';

interface UseColumns extends LimitColumns, WindowColumns {
  id: string;
  name: string;
  account: string;
  held: bigint;
  total: bigint;
}

/** The columns of accounts are named as those of keys. */
const SOURCES = {
  account: raw('(SELECT accounts.*, accounts.id AS account, accounts.spent AS total FROM accounts) AS uses'),
  key: raw(
    `(SELECT keys.id, keys.name, keys.account, keys.disabled_at, keys.budget_total, keys.budget_day, keys.budget_month,
      keys.requests_per_minute, keys.tokens_per_minute, keys.concurrency, spendings.held, spendings.total, spendings.day,
      spendings.day_spent, spendings.month, spendings.month_spent, spendings.prior_day, spendings.prior_day_spent,
      spendings.prior_month, spendings.prior_month_spent, spendings.late_since
      FROM keys JOIN spendings ON spendings.key = keys.id) AS uses`,
  ),
};

export function alertFigures(
  db: Database,
): Pick<AlertStore, 'budgetUses' | 'lowBalances' | 'rearmBalances' | 'changedPrices'> {
  return {
    async budgetUses(kind, percent, now, { limit, after = '' }) {
      // A window may be over: what is left of it is decided below.
      const rows = await db.all<UseColumns>(
        sql`SELECT * FROM ${SOURCES[kind]} WHERE id > ${after} AND disabled_at IS NULL AND (
            (total + held) * 100 >= budget_total * ${percent} OR (day_spent + held) * 100 >= budget_day * ${percent}
            OR (month_spent + held) * 100 >= budget_month * ${percent})
          ORDER BY id LIMIT ${limit}`,
      );
      return rows.map((row): BudgetUse => {
        const spending = { held: row.held, total: row.total, ...windowsFrom(row) };
        turnTo(spending, now);
        const { id, name, account } = row;
        return { kind, id, name, account, budget: limitsFrom(row).budget ?? {}, used: committed(spending, now) };
      });
    },
    async lowBalances(below, { limit, after = '' }) {
      return db.all(
        sql`SELECT id, name, balance FROM accounts WHERE id > ${after} AND balance < ${below} AND spent > 0
            AND disabled_at IS NULL ORDER BY id LIMIT ${limit}`,
      );
    },
    async rearmBalances(rule, below) {
      const enough = sql`SELECT id FROM accounts WHERE balance >= ${below}`;
      await db.all(
        sql`UPDATE alerts SET dedupe = NULL WHERE rule = ${rule} AND dedupe IS NOT NULL AND subject IN (${enough})`,
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
