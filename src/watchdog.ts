/** Ends this process when its event loop does not turn: what it holds is settled by others, and whoever started it can start it anew. */

export interface Watched {
  /** Its first element changes whenever the loop turns. */
  turns: Int32Array;
  stallMs: number;
  everyMs: number;
}

/** So many looks make a stall. */
const LOOKS = 30;

/** Watches from a thread of its own, 6 MB; the function stops it. Where several processes serve, the one that started them watches instead. */
export function startWatchdog(stallMs: number): () => void {
  const everyMs = Math.max(1, Math.ceil(stallMs / LOOKS));
  const turns = new Int32Array(new SharedArrayBuffer(4));
  const turning = setInterval(() => Atomics.add(turns, 0, 1), everyMs / 2);
  turning.unref();
  const worker = new Worker(new URL('./watchdog-worker.ts', import.meta.url).href, { smol: true });
  worker.unref();
  worker.postMessage({ turns, stallMs, everyMs } satisfies Watched);
  return () => {
    clearInterval(turning);
    worker.terminate();
  };
}
