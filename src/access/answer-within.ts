/** Waits for a promise with a time limit that does not run while the event loop is blocked. */

/** Into how many timers the wait is divided. */
const LOOKS = 4;

/**
 * The promise's value, or `undefined` if it takes longer than `ms`. The wait is a chain of short timers, each set by the one before. If the
 * event loop was blocked, a late timer counts as one step only, so a blocked event loop alone never ends the wait: the answer may have
 * arrived and only be unread.
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
