/** Members shared by keys and accounts (budget and rate limits): their schemas, changes, and output. */
import { type Static, type TSchema, Type } from 'typebox';
import { writeMoney } from '../../../canonical/money.ts';
import type { Budget, Pace } from '../../../store/rows.ts';
import { moneyOf, Usd, UsdInput } from '../../fields/usd.ts';

const BudgetInput = Type.Union(
  [
    ...UsdInput.anyOf,
    Type.Object(
      { total: Type.Optional(UsdInput), day: Type.Optional(UsdInput), month: Type.Optional(UsdInput) },
      { additionalProperties: false },
    ),
  ],
  { description: 'a total in USD, or {total, day, month}' },
);
type BudgetInput = Static<typeof BudgetInput>;

const perMinute = (what: string) => Type.Integer({ minimum: 1, description: `a number of ${what}, at least 1` });

const ASKED = {
  budget: BudgetInput,
  requestsPerMinute: perMinute('requests'),
  tokensPerMinute: perMinute('tokens'),
  concurrency: perMinute('concurrent calls'),
};

/** For a change: `null` removes the value. */
export function changeable<S extends TSchema & { description?: string }>(schema: S) {
  const description = `${schema.description ?? 'a value'}; null removes it`;
  return Type.Optional(Type.Union([schema, Type.Null()], { description }));
}

export const LIMITS = {
  /** Of a new key or account. */
  input: {
    budget: Type.Optional(ASKED.budget),
    requestsPerMinute: Type.Optional(ASKED.requestsPerMinute),
    tokensPerMinute: Type.Optional(ASKED.tokensPerMinute),
    concurrency: Type.Optional(ASKED.concurrency),
  },
  changed: {
    budget: changeable(ASKED.budget),
    requestsPerMinute: changeable(ASKED.requestsPerMinute),
    tokensPerMinute: changeable(ASKED.tokensPerMinute),
    concurrency: changeable(ASKED.concurrency),
  },
  shown: {
    budget: Type.Optional(
      Type.Object({ total: Type.Optional(Usd), day: Type.Optional(Usd), month: Type.Optional(Usd) }),
    ),
    requestsPerMinute: Type.Optional(Type.Integer()),
    tokensPerMinute: Type.Optional(Type.Integer()),
    concurrency: Type.Optional(Type.Integer()),
  },
};

export const Spent = Type.Object(
  { total: Usd, day: Usd, month: Usd },
  { description: 'including the holds of active calls' },
);

type LimitsInput = { budget?: BudgetInput } & Pace;
type LimitsChanged = { [limit in keyof LimitsInput]: LimitsInput[limit] | null };

/** Converts requested limits for the store. Absent members stay absent. */
export function limitsOf({ budget, ...pace }: LimitsInput): Pace & { budget?: Budget } {
  return { ...paceOf(pace), ...(budget !== undefined && { budget: budgetOf(budget) }) };
}

export function limitChangesOf({ budget, ...pace }: LimitsChanged) {
  return { ...paceOf(pace), ...(budget !== undefined && { budget: budget === null ? null : budgetOf(budget) }) };
}

function paceOf<Limit extends number | null>(
  given: { [limit in keyof Pace]: Limit },
): { [limit in keyof Pace]: Limit } {
  const { requestsPerMinute, tokensPerMinute, concurrency } = given;
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    ...(concurrency !== undefined && { concurrency }),
  };
}

function budgetOf(given: BudgetInput): Budget {
  if (typeof given !== 'object') return { total: moneyOf(given, 'budget') };
  const budget: Budget = {};
  for (const span of ['total', 'day', 'month'] as const) {
    const amount = given[span];
    if (amount !== undefined) budget[span] = moneyOf(amount, `budget.${span}`);
  }
  return budget;
}

export function writeBudget(budget: Budget): { [span: string]: string } {
  return Object.fromEntries(Object.entries(budget).map(([span, amount]) => [span, writeMoney(amount)]));
}
