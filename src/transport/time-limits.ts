/** Time limits of everything under way, kept by one timer: a timer each would cost more than a chunk. */

/** Milliseconds. Each limit that runs out is an `upstream_timeout` with its own sentence. */
export interface TimeLimits {
  /** Until the upstream has accepted a connection. */
  connectMs: number;
  /** From sending until the response headers. */
  headersMs: number;
  /** From the headers until the first bytes of the body. */
  firstTokenMs: number;
  /** Between two arrivals of bytes. */
  silenceMs: number;
  /** The whole call, failed attempts included. */
  wholeMs: number;
}

/** Something that fails when its time is over. */
export interface Watched {
  /** `now`: on the clock of `performance.now()`. */
  look(now: number): void;
}

export interface Watch {
  add(one: Watched): void;
  delete(one: Watched): void;
}

/** How finely time limits are kept. */
const TICK_MS = 25;

export function createWatch(): Watch {
  const watched = new Set<Watched>();
  let ticking: ReturnType<typeof setInterval> | undefined;

  function tick(): void {
    const now = performance.now();
    for (const one of watched) one.look(now);
    if (watched.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  }

  return {
    add(one) {
      watched.add(one);
      ticking ??= setInterval(tick, TICK_MS);
    },
    delete: (one) => void watched.delete(one),
  };
}
