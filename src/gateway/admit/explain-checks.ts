/** What a key's state, its limits, the balance and the budgets say of a call now, in the order in which a call meets them. */
import type { Caller, CallerState } from '../../access/access.ts';
import { exceeded, type SeenLimits } from '../../access/limits.ts';
import type { GatewayError } from '../../canonical/errors.ts';
import { type Money, writeMoney } from '../../canonical/money.ts';
import type { Budget } from '../../store/rows.ts';

export interface ExplainedCheck {
  readonly check: 'key' | 'concurrency' | 'requestsPerMinute' | 'tokensPerMinute' | 'balance' | 'budget';
  readonly of: 'key' | 'account';
  /** Of a budget. */
  readonly window?: keyof Budget;
  /** A number, or an amount in nano-USD. */
  readonly limit?: number | Money;
  /** How much of it is used: by calls of the last minute, by active calls, or spent and held. */
  readonly used?: number | Money;
  /** What the call needs of it. */
  readonly needs?: number | Money;
  readonly passes: boolean;
  readonly reason: string;
}

/** What a call needs at most. */
export interface CallNeeds {
  readonly tokens: number;
  readonly hold: Money;
}

export function checksOf(caller: Caller, state: CallerState, balance: Balance, needs: CallNeeds): ExplainedCheck[] {
  return [
    keyCheck(state.refusal),
    ...state.limits.seen.flatMap((seen) => windowChecks(seen, needs.tokens)),
    balanceCheck(balance, needs.hold),
    ...budgetChecks('key', caller.budget, state.spent.key, needs.hold),
    ...budgetChecks('account', caller.accountBudget, state.spent.account, needs.hold),
  ];
}

export interface Balance {
  readonly available: Money;
  readonly held: Money;
}

function keyCheck(refusal: GatewayError | undefined): ExplainedCheck {
  return {
    check: 'key',
    of: 'key',
    passes: !refusal,
    reason: refusal?.message ?? 'The key and its account are enabled.',
  };
}

const WINDOWS = [
  { check: 'concurrency', used: 'active', what: 'calls at once' },
  { check: 'requestsPerMinute', used: 'requests', what: 'requests of a minute' },
  { check: 'tokensPerMinute', used: 'tokens', what: 'tokens of a minute' },
] as const;

/** Of a key or account, the limits that it has. */
function windowChecks({ paced, used }: SeenLimits['seen'][number], tokens: number): ExplainedCheck[] {
  const { of } = paced;
  return WINDOWS.flatMap(({ check, used: member, what }) => {
    const limit = paced[check];
    if (limit === undefined) return [];
    const needs = member === 'tokens' ? tokens : 1;
    const alone = { id: paced.id, of, [check]: limit };
    const passes = exceeded(alone, used, tokens) === undefined;
    const reason = `${used[member]} of the ${limit} ${what} of this ${of} are used, and the call needs ${needs}.`;
    return [{ check, of, limit, used: used[member], needs, passes, reason }];
  });
}

function balanceCheck({ available, held }: Balance, hold: Money): ExplainedCheck {
  const [left, most, open] = [available, hold, held].map(writeMoney);
  const reason = `${left} USD are available beside ${open} USD that calls under way hold, and ${most} USD would be held.`;
  return {
    check: 'balance',
    of: 'account',
    limit: available + held,
    used: held,
    needs: hold,
    passes: hold <= available,
    reason,
  };
}

function budgetChecks(
  of: 'key' | 'account',
  budget: Budget | undefined,
  spent: Required<Budget> | undefined,
  hold: Money,
): ExplainedCheck[] {
  if (!budget || !spent) return [];
  return (['total', 'day', 'month'] as const).flatMap((window) => {
    const limit = budget[window];
    if (limit === undefined) return [];
    const used = spent[window];
    const span = window === 'total' ? 'in total' : `of this ${window}`;
    const reason = `${writeMoney(used)} of the ${writeMoney(limit)} USD of this ${of} ${span} are spent or held, and ${writeMoney(hold)} USD would be held.`;
    return [{ check: 'budget' as const, of, window, limit, used, needs: hold, passes: hold <= limit - used, reason }];
  });
}
