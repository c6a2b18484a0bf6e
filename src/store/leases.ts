/** Leases as they are kept: which process holds money, and when it last showed that it lives. */

/** A lease with open holds, and when its process last renewed it; absent: never. */
export interface OwnerRow {
  owner: string;
  at?: number;
  /** Another process has ended it: its holds are anybody's to settle. */
  isEnded?: true;
}

export interface LeaseStore {
  /** A living process takes or renews its lease; `false` where another has ended it. */
  heartbeat(owner: string, at: number): Promise<boolean>;
  /** Ends a lease that was last renewed at `mark`, for good; `false` where it has been renewed since. */
  endLease(owner: string, mark: number | undefined, at: number): Promise<boolean>;
  /** Who has open holds. */
  owners(): Promise<OwnerRow[]>;
}
