/** Leases: which process owns holds, and when it last renewed its lease. */

/** A lease with open holds, and its last renewal; absent if there was none. */
export interface OwnerRow {
  owner: string;
  at?: number;
  /** Another process ended the lease: any process may settle its holds. */
  isEnded?: true;
}

export interface LeaseStore {
  /** Takes or renews the lease of a running process. `false` if another process has ended it. */
  heartbeat(owner: string, at: number): Promise<boolean>;
  /** Ends a lease permanently if its last renewal was at `mark`. `false` if it was renewed since. */
  endLease(owner: string, mark: number | undefined, at: number): Promise<boolean>;
  /** The owners of open holds. */
  owners(): Promise<OwnerRow[]>;
}
