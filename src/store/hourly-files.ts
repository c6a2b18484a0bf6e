/** Which hours have their file of calls. An hour is its number since 1970, in UTC. */

export interface WrittenFile {
  calls: number;
  /** 0: an hour without calls has no file. */
  bytes: number;
  at: number;
}

export interface HourlyFileStore {
  /** Of the hours from `first` on: those that are done, are being written, or wait before another try. */
  takenHours(first: number, now: number): Promise<number[]>;
  /** Hours with calls that began before this time and have not ended. */
  unfinishedHours(before: number): Promise<number[]>;
  /** Takes an hour, for one process at a time. Resolves with the number of this try; `undefined`: the hour is taken. */
  takeHour(hour: number, owner: string, now: number, leaseUntil: number): Promise<number | undefined>;
  renewHour(hour: number, owner: string, leaseUntil: number): Promise<void>;
  /** `false`: the hour belongs to another process, or has to be written again. */
  hourWritten(hour: number, owner: string, file: WrittenFile): Promise<boolean>;
  /** Marks the hour as unwritten, even if another process has written it since: a failed write may have removed the file. */
  hourFailed(hour: number, error: string, retryAt: number): Promise<void>;
  /** Removes the rows of hours before this one. Resolves with those that were not written. */
  forgetHours(before: number): Promise<number[]>;
}
