/** What verification reads of the sums behind reports. */

/** A stored sum that differs from what it is made of. */
export interface SumLine {
  account: string;
  key: string;
  model: string;
  /** Of sums by provider. */
  provider?: string;
  /** Of sums by tag; `''`: of all calls. */
  tag?: string;
  /** Hours since 1970. Absent: of a sum of a day. */
  hour?: number;
  /** The columns that differ: the value that the rows add up to, and the stored one. */
  wrong: { readonly [column: string]: { readonly made: bigint; readonly kept: bigint } };
}

/** The sums of a day, together. */
export interface DayTotals {
  day: number;
  calls: number;
  cost: bigint;
}

/** Hours are since 1970, and the last one is not included; so are days. */
export interface SumsReader {
  /**
   * Sums of these hours that differ from their calls. `olderCalls`: calls that are in no sum by provider because a release without such sums
   * recorded them. `hasDoubtful`: some of the calls may have no charge.
   */
  hours(
    from: number,
    to: number,
  ): Promise<{ byModel: SumLine[]; byProvider: SumLine[]; olderCalls: number; hasDoubtful: boolean }>;
  /** Sums of tags that differ from the calls with these tags. */
  tags(from: number, to: number): Promise<SumLine[]>;
  /** The days that are summed. */
  days(): Promise<DayTotals[]>;
  /** Sums of this day that differ from its hourly sums. Empty if the day is not summed. */
  day(day: number): Promise<SumLine[]>;
  /** The number of calls in this time that an older release may have recorded. */
  olderCalls(of: Pick<SumLine, 'account' | 'key' | 'model'>, fromHour: number, toHour: number): Promise<number>;
}
