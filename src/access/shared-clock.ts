/** The clock that processes share through Redis, as one of them has it: what it last heard, carried on by its own monotonic clock. */

export interface SharedClock {
  /** What this process makes of the shared clock, in milliseconds; empty where it has not heard it yet. */
  say(): string;
  /** What Redis said a moment ago: the shared clock is never behind it. */
  heard(ms: number): void;
}

/** `clock`: milliseconds, monotonic. */
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
