/** Enforces time limits with one shared timer: a timer for each exchange would cost more than a chunk. */

/** In milliseconds. Each exceeded limit is an `upstream_timeout` with its own message. */
export interface TimeLimits {
  /** Until the upstream has accepted a connection. */
  connectMs: number;
  /** From sending the request until the response headers. */
  headersMs: number;
  /** From the headers until the first bytes of the body. */
  firstTokenMs: number;
  /** Between two arrivals of bytes. */
  silenceMs: number;
  /** From sending until the response starts, if another target is available: until the first token of a stream, the headers else. */
  answerMs?: number;
  /** The whole call, failed attempts included. */
  wholeMs: number;
}

/** Fails when its time limit has passed. */
export interface Watched {
  /** Its place among those that are watched, or -1. Written by the watch alone. */
  place: number;
  /** `now`: by `performance.now()`. Returns when it has to look again: the next tick after that. */
  look(now: number): number;
}

export interface Watch {
  add(one: Watched): void;
  delete(one: Watched): void;
}

/** The resolution of time limits. */
const TICK_MS = 25;

export function createWatch(): Watch {
  const watched: Watched[] = [];
  /** When each of them has to look, at the same places: those that need not are not even touched. */
  const due: number[] = [];
  let ticking: ReturnType<typeof setInterval> | undefined;

  function tick(): void {
    const now = performance.now();
    // Backwards, because `delete` fills a gap with the last one.
    for (let place = watched.length - 1; place >= 0; place--) {
      const one = watched[place];
      if (!one || due[place]! > now) continue;
      const next = one.look(now);
      // If it has left, another one may have its place.
      if (one.place === place) due[place] = next;
    }
    if (watched.length > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  }

  return {
    add(one) {
      one.place = watched.length;
      watched.push(one);
      due.push(0);
      ticking ??= setInterval(tick, TICK_MS);
    },
    delete(one) {
      const last = watched[watched.length - 1];
      if (one.place < 0 || !last) return;
      watched[one.place] = last;
      due[one.place] = due[watched.length - 1]!;
      last.place = one.place;
      watched.length--;
      due.length--;
      one.place = -1;
    },
  };
}
