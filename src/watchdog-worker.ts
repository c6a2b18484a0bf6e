/** The thread that watches the event loop of its process, and ends the process when that no longer turns. */
import type { Watched } from './watchdog.ts';

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<Watched>) => {
  const { turns, stallMs, everyMs } = data;
  let seen = -1;
  let still = 0;
  setInterval(() => {
    const now = Atomics.load(turns, 0);
    still = now === seen ? still + 1 : 0;
    seen = now;
    // Looks are counted, not time: a machine that slept, or a process that was stopped as a whole, has looked as seldom.
    if (still * everyMs < stallMs) return;
    process.stderr.write(`The event loop has not turned for ${stallMs} ms: the process ends itself.\n`);
    process.kill(process.pid, 'SIGKILL');
  }, everyMs);
};
