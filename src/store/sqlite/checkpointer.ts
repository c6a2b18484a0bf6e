/** After many writes a worker thread files calls, and copies the write-ahead log into the database file: neither blocks the event loop. */
import type { Database } from 'bun:sqlite';
import { settledWithin } from '../../canonical/time.ts';
import { startThread, workerProgram } from '../../canonical/worker-program.ts';
import type { CheckpointMessage, CheckpointRequest } from './checkpoint-worker.ts';

export interface Checkpointer {
  /** Call before each write. */
  writes(): void;
  /** Whether the thread files calls that are left unfiled. */
  isFiling(): boolean;
  /** Resolves when the thread has closed the file, or does not respond. */
  close(): Promise<void>;
}

/** The log size at which this connection copies it itself: 16 MB, which takes about 20 ms. */
const OWN_PAGES = 4000;
/** Commands in a terminal write less and need no thread. */
const WRITES_WITHOUT_THREAD = 200;
const EVERY_MS = 500;
const CLOSING_MS = 1000;

/** `program`: the worker's program, replaced in tests. */
export function createCheckpointer(
  path: string,
  file: Database,
  program = workerProgram(new URL('./checkpoint-worker.ts', import.meta.url)),
): Checkpointer {
  let writes = 0;
  let worker: Worker | undefined;
  /** The thread has opened the file and does the copying. */
  let isCopying = false;
  let isBehind = false;
  let isClosed = false;
  let closed = () => {};
  copiesItself(OWN_PAGES);

  function copiesItself(pages: number): void {
    file.run(`PRAGMA wal_autocheckpoint = ${pages}`);
  }

  function start(): void {
    const thread = startThread(program, { smol: true });
    worker = thread;
    thread.onmessage = ({ data }: MessageEvent<CheckpointMessage>) => {
      // The thread may report after it was replaced.
      if (worker !== thread) return;
      if (data === 'opened') {
        isCopying = true;
        copiesItself(0);
      } else if (data === 'closed') closed();
      else isBehind = data === 'behind';
    };
    thread.onerror = (event) => {
      event.preventDefault();
      if (worker !== thread) return;
      end(thread);
      copiesItself(OWN_PAGES);
      closed();
    };
    thread.unref();
    thread.postMessage({ path, everyMs: EVERY_MS } satisfies CheckpointRequest);
  }

  function end(thread: Worker): void {
    worker = undefined;
    isCopying = false;
    thread.terminate();
  }

  return {
    isFiling: () => isCopying && !isBehind,
    writes() {
      // Writes that fail because the database is closed start no thread.
      if (++writes === WRITES_WITHOUT_THREAD && !isClosed) start();
    },
    async close() {
      isClosed = true;
      if (worker && isCopying) {
        const ended = new Promise<void>((resolve) => {
          closed = resolve;
        });
        worker.postMessage('close');
        await settledWithin([ended], CLOSING_MS);
      }
      if (worker) end(worker);
    },
  };
}
