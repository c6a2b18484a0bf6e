/** The thread that watches its process's event loop, and ends the process when the loop is blocked. */
import type { WatchedLoop } from './watchdog.ts';

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<WatchedLoop>) => {
  const { turns, stallMs, everyMs } = data;
  let seen = -1;
  let still = 0;
  setInterval(() => {
    const now = Atomics.load(turns, 0);
    still = now === seen ? still + 1 : 0;
    seen = now;
    // Checks are counted instead of time: a suspended machine or stopped process has checked less often.
    if (still * everyMs < stallMs) return;
    process.stderr.write(`The event loop has not turned for ${stallMs} ms: the process ends itself.\n`);
    process.kill(process.pid, 'SIGKILL');
  }, everyMs);
};
