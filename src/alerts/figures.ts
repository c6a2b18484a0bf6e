/** Alerts about money, computed in the background from sums that the ledger keeps: a call pays nothing for them. */
import type { AlertStore } from '../store/alerts.ts';
import { balanceDraft, budgetDraft, type Draft, priceDraft } from './drafts.ts';
import { type AllRules, thresholdReached } from './rules.ts';

const PAGE = 500;
/** Longer than any pause between two evaluations. Each price has one alert at most. */
const PRICES_SINCE_MS = 3_600_000;

/** `raise`: resolves when it is recorded. */
export async function raiseFigures(
  store: AlertStore,
  { budget, low_balance: balance, price_changed: price }: AllRules,
  now: number,
  raise: (draft: Draft) => Promise<unknown>,
): Promise<void> {
  if (budget.enabled && budget.thresholds.length > 0)
    for (const kind of ['account', 'key'] as const) await raiseBudgets(store, kind, budget.thresholds, now, raise);
  if (balance.enabled) {
    await store.rearmBalances('low_balance', balance.below);
    const low = pages((after) => store.lowBalances(balance.below, { limit: PAGE, ...after }));
    for await (const account of low) await raise(balanceDraft(account, balance.below));
  }
  if (price.enabled)
    for (const changed of await store.changedPrices(now - PRICES_SINCE_MS)) await raise(priceDraft(changed));
}

async function raiseBudgets(
  store: AlertStore,
  kind: 'account' | 'key',
  thresholds: readonly number[],
  now: number,
  raise: (draft: Draft) => Promise<unknown>,
): Promise<void> {
  const lowest = Math.min(...thresholds);
  const uses = pages((after) => store.budgetUses(kind, lowest, now, { limit: PAGE, ...after }));
  for await (const use of uses)
    for (const window of ['total', 'month', 'day'] as const) {
      const limit = use.budget[window];
      const percent = limit === undefined ? undefined : thresholdReached(use.used[window], limit, thresholds);
      if (percent !== undefined) await raise(budgetDraft(use, window, percent, now));
    }
}

async function* pages<Row extends { id: string }>(read: (after: { after?: string }) => Promise<Row[]>) {
  for (let after: { after?: string } = {}; ; ) {
    const rows = await read(after);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = { after: last.id };
  }
}
