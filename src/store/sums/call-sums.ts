/** Hourly sums of calls by account, key, model, provider and tag. Each batch updates them, so reports never add up single calls. */

import type { Money } from '../../canonical/money.ts';
import { HOUR_MS } from '../../canonical/time.ts';
import type { CallOutcome, CallRow, UsageFigures } from '../rows.ts';

export interface CallSum extends UsageFigures {
  account: string;
  /** Hours since 1970. */
  hour: number;
  key: string;
  model: string;
  provider: string;
  /** `''`: the sum of all calls. A call with tags is in the sum of each of them too. */
  tag: string;
}

export interface Tokens {
  input: number;
  output: number;
}

export interface RecordedCall {
  row: CallRow;
  /** The seq of the charge, or `undefined` if nothing was charged. */
  entrySeq: number | undefined;
  /** The seq of the completion, if it changed the balance. */
  completionSeq: number | undefined;
  tokens: Tokens;
}

/** A recorded call. */
export interface FormerCall {
  account: string;
  key: string;
  model: string;
  at: number;
  endedAt: number;
  cost: Money;
  provider: string;
  providerCost: Money | undefined;
  outcome: CallOutcome;
  saved: Money;
  tokens: Tokens;
  isProvisional: boolean;
}

/** A call whose provisional record is replaced by the final one. */
export interface CompletedCall {
  row: CallRow;
  completionSeq: number | undefined;
  tokens: Tokens;
  before: FormerCall;
}

const NO_TOKENS: Tokens = { input: 0, output: 0 };

/** Token counts in the call's usage. */
export function tokensOf({ usage }: CallRow): Tokens {
  if (usage === undefined) return NO_TOKENS;
  const tokens = { input: whole(usage.input), output: whole(usage.output) };
  if (usage.hedge) {
    tokens.input += whole(usage.hedge.usage.input);
    tokens.output += whole(usage.hedge.usage.output);
  }
  return tokens;
}

/** A provider may report any number; the sums must stay valid integers. */
function whole(figure: number): number {
  return figure > 0 && figure < MOST_TOKENS ? Math.ceil(figure) : 0;
}

const MOST_TOKENS = 2 ** 40;

/** The sums of one batch. A completed call counts with its difference. */
export function sumCalls(calls: readonly RecordedCall[], completed: readonly CompletedCall[]): CallSum[] {
  const sums: CallSum[] = [];
  for (const { row, tokens } of calls) {
    addCall(sumOf(sums, row, row.provider, ''), row, tokens);
    if (row.tags) for (const tag of row.tags) addCall(sumOf(sums, row, row.provider, tag), row, tokens);
  }
  for (const { row, tokens, before } of completed) {
    takeCall(sumOf(sums, row, before.provider, ''), before);
    addCall(sumOf(sums, row, row.provider, ''), row, tokens);
    // A provisional record has no tags.
    if (row.tags) for (const tag of row.tags) addCall(sumOf(sums, row, row.provider, tag), row, tokens);
  }
  return sums;
}

function addCall(sum: CallSum, row: CallRow, tokens: Tokens): void {
  sum.calls++;
  sum.cost += row.cost;
  sum.inputTokens += tokens.input;
  sum.outputTokens += tokens.output;
  sum.saved += row.saved ?? 0n;
  if (row.providerCost === undefined) return;
  sum.providerCost += row.providerCost;
  sum.costedCalls++;
  sum.costedCharge += row.cost;
}

function takeCall(sum: CallSum, before: FormerCall): void {
  sum.calls--;
  sum.cost -= before.cost;
  sum.inputTokens -= before.tokens.input;
  sum.outputTokens -= before.tokens.output;
  sum.saved -= before.saved;
  if (before.providerCost === undefined) return;
  sum.providerCost -= before.providerCost;
  sum.costedCalls--;
  sum.costedCharge -= before.cost;
}

function sumOf(sums: CallSum[], row: CallRow, provider: string, tag: string): CallSum {
  const hour = Math.floor(row.at / HOUR_MS);
  for (const sum of sums) if (sum.provider === provider && sum.tag === tag && isOf(sum, row, hour)) return sum;
  const { account, key, model } = row;
  const sum: CallSum = { account, hour, key, model, provider, tag, ...NO_FIGURES };
  sums.push(sum);
  return sum;
}

export const NO_FIGURES: UsageFigures = {
  calls: 0,
  cost: 0n,
  inputTokens: 0,
  outputTokens: 0,
  saved: 0n,
  providerCost: 0n,
  costedCalls: 0,
  costedCharge: 0n,
};

/** Adds the figures to the sum, or with -1 takes them from it. */
export function addUsage(sum: UsageFigures, more: UsageFigures, sign: 1 | -1): void {
  const times = BigInt(sign);
  sum.calls += sign * more.calls;
  sum.cost += times * more.cost;
  sum.inputTokens += sign * more.inputTokens;
  sum.outputTokens += sign * more.outputTokens;
  sum.saved += times * more.saved;
  sum.providerCost += times * more.providerCost;
  sum.costedCalls += sign * more.costedCalls;
  sum.costedCharge += times * more.costedCharge;
}

function isOf(sum: CallSum, { account, key, model }: CallRow, hour: number): boolean {
  return sum.key === key && sum.model === model && sum.hour === hour && sum.account === account;
}
