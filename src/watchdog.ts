/** Ends this process when its event loop is blocked: other processes settle its calls, and a supervisor can restart it. */

import { startThread, workerProgram } from './canonical/worker-program.ts';

export interface WatchedLoop {
  /** The first element changes with every turn of the loop. */
  turns: Int32Array;
  stallMs: number;
  everyMs: number;
}

/** The number of checks until a stall is assumed. */
const LOOKS = 30;

/**
 * Watches from a thread, which takes 6 MB. The returned function stops it. With several processes, the one that started them watches
 * instead.
 */
export function startWatchdog(stallMs: number): () => void {
  const everyMs = Math.max(1, Math.ceil(stallMs / LOOKS));
  const turns = new Int32Array(new SharedArrayBuffer(4));
  const turning = setInterval(() => Atomics.add(turns, 0, 1), everyMs / 2);
  turning.unref();
  const worker = startThread(workerProgram(new URL('./watchdog-worker.ts', import.meta.url)), { smol: true });
  worker.unref();
  worker.postMessage({ turns, stallMs, everyMs } satisfies WatchedLoop);
  return () => {
    clearInterval(turning);
    worker.terminate();
  };
}
