/** What a new price would have cost needs of the calls that were billed. */
import type { Money } from '../canonical/money.ts';
import type { Usage } from '../canonical/usage.ts';
import type { CallOutcome } from './rows.ts';

export interface BilledCall {
  id: string;
  at: number;
  model: string;
  outcome: CallOutcome;
  cost: Money;
  priceId: string;
  /** Absent: it was not charged by usage, or is a call of another model. */
  usage?: Usage;
}

export interface BilledStore {
  /**
   * Calls that began in [`from`, `to`), newest first. Reads `limit` rows at most, so that a page takes a few milliseconds whatever the
   * models are: the usage of calls of other models is not read.
   */
  billedCalls(asked: {
    from: number;
    to: number;
    models: readonly string[];
    limit: number;
    after?: { at: number; id: string };
  }): Promise<BilledCall[]>;
}
