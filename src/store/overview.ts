/** The data of the overview. */
import type { Money } from '../canonical/money.ts';
import type { OverviewSpan } from './sums/overview-slots.ts';
import type { OverviewFigures } from './sums/overview-sums.ts';

export interface OverviewLine {
  account: string;
  /** Absent in lines of accounts. */
  key?: string;
  calls: number;
  cost: Money;
  tokens: number;
}

export interface OverviewResult {
  /** Slots of the span's step that have calls, oldest first, of both periods. `slot`: the first. */
  steps: { slot: number; figures: OverviewFigures }[];
  /** The models that cost most in the period. */
  models: { model: string; figures: OverviewFigures }[];
}

export interface OverviewStore {
  overview(span: OverviewSpan, most: number): Promise<OverviewResult>;
  /** The keys and accounts that cost most. `calls`: how many calls the period has, as far as the sums say. */
  topSpenders(
    span: OverviewSpan,
    most: number,
    calls: number,
  ): Promise<{ from: number; keys: OverviewLine[]; accounts: OverviewLine[] }>;
  /** The sum of the open holds of all processes. */
  heldSum(): Promise<{ open: number; amount: Money; oldest?: number }>;
}
