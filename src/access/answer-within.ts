/** Waits for an answer, but not while this process itself is held up: the answer may be there and wait to be read. */

/** The event loop turns at least so often before the wait is over. */
const LOOKS = 4;

/**
 * The promise's value, or `undefined` where it takes longer than this. The wait is cut into looks, each a timer set by the one before:
 * a look that comes late, because the event loop did not turn, counts as one all the same, so a stall ends no wait.
 */
export function answerWithin<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    let looks = 0;
    let timer: ReturnType<typeof setTimeout>;
    const look = () => {
      if (++looks < LOOKS) timer = setTimeout(look, ms / LOOKS);
      else resolve(undefined);
    };
    timer = setTimeout(look, ms / LOOKS);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
