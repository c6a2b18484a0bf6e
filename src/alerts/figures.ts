/** Alerts about money, computed in the background from sums that the ledger keeps: a call pays nothing for them. */
import { yieldToLoop } from '../canonical/yield-to-loop.ts';
import type { AlertStore, Searched } from '../store/alerts.ts';
import { balanceDraft, budgetDraft, type Draft, exhaustedDraft, priceDraft, WINDOWS } from './drafts.ts';
import { type AllRules, thresholdReached } from './rules.ts';

/** This many rows are read at once: a few milliseconds on SQLite, in which no call makes progress. */
const PART = 1000;
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
    const low = all((after) => store.lowBalances(balance.below, { limit: PART, ...after }));
    for await (const accounts of low) {
      const drafts = accounts.map((account) => balanceDraft(account, balance.below));
      await raiseNew(store, drafts, raise);
    }
  }
  if (price.enabled) await raiseNew(store, (await store.changedPrices(now - PRICES_SINCE_MS)).map(priceDraft), raise);
}

/** What was raised before costs a part of one statement, not a transaction of its own every 15 seconds. */
async function raiseNew(
  store: Pick<AlertStore, 'raised'>,
  drafts: readonly Draft[],
  raise: (draft: Draft) => Promise<unknown>,
): Promise<void> {
  if (drafts.length === 0) return;
  const raised = await store.raised(drafts.map(({ key }) => key));
  for (const draft of drafts) if (!raised.has(draft.key)) await raise(draft);
}

/** What refused a call of this key: the budget, of the key or its account, that leaves least. */
export async function exhaustedBudget(
  store: Pick<AlertStore, 'budgetUse'>,
  { key, account }: { key: string; account: string },
  now: number,
): Promise<Draft | undefined> {
  const uses = [await store.budgetUse('key', key, now), await store.budgetUse('account', account, now)];
  const budgets = uses.flatMap((use) =>
    WINDOWS.flatMap((window) => {
      const limit = use?.budget[window];
      return use && limit !== undefined ? [{ use, window, left: limit - use.used[window] }] : [];
    }),
  );
  const [least] = budgets.sort((a, b) => (a.left < b.left ? -1 : 1));
  return least && exhaustedDraft(least.use, least.window, now);
}

async function raiseBudgets(
  store: AlertStore,
  kind: 'account' | 'key',
  thresholds: readonly number[],
  now: number,
  raise: (draft: Draft) => Promise<unknown>,
): Promise<void> {
  const lowest = Math.min(...thresholds);
  const uses = all((after) => store.budgetUses(kind, lowest, now, { limit: PART, ...after }));
  for await (const part of uses) {
    const drafts = part.flatMap((use) =>
      WINDOWS.flatMap((window) => {
        const limit = use.budget[window];
        const percent = limit === undefined ? undefined : thresholdReached(use.used[window], limit, thresholds);
        return percent === undefined ? [] : [budgetDraft(use, window, percent, now)];
      }),
    );
    await raiseNew(store, drafts, raise);
  }
}

/** Calls continue between the parts. */
async function* all<Row>(read: (after: { after?: string }) => Promise<Searched<Row>>) {
  for (let after: { after?: string } = {}; ; ) {
    const { rows, next } = await read(after);
    yield rows;
    if (next === undefined) return;
    after = { after: next };
    await yieldToLoop();
  }
}
