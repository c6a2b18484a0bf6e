/** A process's view of the clock that all processes share through Redis: the last value read, advanced by the process's monotonic clock. */

export interface SharedClock {
  /** The current estimate in milliseconds, or empty text if the shared clock was never read. */
  say(): string;
  /** Takes the value that Redis just returned. The clock never goes back. */
  heard(ms: number): void;
}

/** `clock`: monotonic time in milliseconds. */
export function createSharedClock(clock: () => number): SharedClock {
  let ahead: number | undefined;
  return {
    say: () => (ahead === undefined ? '' : String(Math.floor(clock() + ahead))),
    heard(ms) {
      const now = ms - clock();
      if (ahead === undefined || now > ahead) ahead = now;
    },
  };
}
