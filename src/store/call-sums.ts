/** Hourly sums of calls by account, key and model. Each batch updates them, so reports never add up single calls. */
import type { Money } from '../canonical/money.ts';
import type { CallOutcome, CallRow } from './rows.ts';

export const HOUR_MS = 3_600_000;

export interface CallSum {
  account: string;
  /** Hours since 1970. */
  hour: number;
  key: string;
  model: string;
  calls: number;
  cost: Money;
  inputTokens: number;
  outputTokens: number;
  saved: Money;
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

/** The sums of one batch by account, hour, key and model. A completed call counts with its difference. */
export function sumCalls(calls: readonly RecordedCall[], completed: readonly CompletedCall[]): CallSum[] {
  const sums: CallSum[] = [];
  for (const { row, tokens } of calls) {
    const sum = sumOf(sums, row);
    sum.calls++;
    sum.cost += row.cost;
    sum.inputTokens += tokens.input;
    sum.outputTokens += tokens.output;
    sum.saved += row.saved ?? 0n;
  }
  for (const { row, tokens, before } of completed) {
    const sum = sumOf(sums, row);
    sum.cost += row.cost - before.cost;
    sum.inputTokens += tokens.input - before.tokens.input;
    sum.outputTokens += tokens.output - before.tokens.output;
    sum.saved += (row.saved ?? 0n) - before.saved;
  }
  return sums;
}

function sumOf(sums: CallSum[], row: CallRow): CallSum {
  const hour = Math.floor(row.at / HOUR_MS);
  let sum = sums.find((one) => isOf(one, row, hour));
  if (!sum) {
    const { account, key, model } = row;
    sum = { account, hour, key, model, calls: 0, cost: 0n, inputTokens: 0, outputTokens: 0, saved: 0n };
    sums.push(sum);
  }
  return sum;
}

function isOf(sum: CallSum, { account, key, model }: CallRow, hour: number): boolean {
  return sum.key === key && sum.model === model && sum.hour === hour && sum.account === account;
}
