/** Has the write-ahead log brought into the database's file without holding up the event loop: once there is much to write, by a thread. */
import type { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import type { CheckpointsAsked } from './checkpoint-worker.ts';

export interface Checkpointer {
  /** Something is written. */
  writes(): void;
  /** Resolves when the thread has let go of the file, or does not answer. */
  close(): Promise<void>;
}

/** Pages in the log after which this connection copies them itself: 16 MB, in some 20 ms. */
const OWN_PAGES = 4000;
/** A command of the terminal writes less, and needs no thread. */
const WRITES_WITHOUT_THREAD = 200;
const EVERY_MS = 500;
const CLOSING_MS = 1000;

/** `program`: the thread's, for a test. */
export function createCheckpointer(path: string, file: Database, program = programUrl()): Checkpointer {
  let writes = 0;
  let worker: Worker | undefined;
  /** The thread has the file open, and copies. */
  let isCopying = false;
  let isClosed = false;
  let closed = () => {};
  copiesItself(OWN_PAGES);

  function copiesItself(pages: number): void {
    file.run(`PRAGMA wal_autocheckpoint = ${pages}`);
  }

  function start(): void {
    const thread = new Worker(program.href, { smol: true });
    worker = thread;
    thread.onmessage = ({ data }: MessageEvent<string>) => {
      // It may come to speak when nobody needs it any more.
      if (worker !== thread) return;
      if (data === 'opened') {
        isCopying = true;
        copiesItself(0);
      } else closed();
    };
    thread.onerror = (event) => {
      event.preventDefault();
      if (worker !== thread) return;
      end(thread);
      copiesItself(OWN_PAGES);
      closed();
    };
    thread.unref();
    thread.postMessage({ path, everyMs: EVERY_MS } satisfies CheckpointsAsked);
  }

  function end(thread: Worker): void {
    worker = undefined;
    isCopying = false;
    thread.terminate();
  }

  return {
    writes() {
      // What is still tried on a closed database needs no thread.
      if (++writes === WRITES_WITHOUT_THREAD && !isClosed) start();
    },
    async close() {
      isClosed = true;
      if (worker && isCopying) {
        const ended = new Promise<void>((resolve) => {
          closed = resolve;
        });
        worker.postMessage('close');
        await Promise.race([ended, Bun.sleep(CLOSING_MS)]);
      }
      if (worker) end(worker);
    },
  };
}

/** The thread's program is beside this file, or beside what the launcher has bundled this file into. */
function programUrl(): URL {
  const beside = new URL('./checkpoint-worker.ts', import.meta.url);
  return existsSync(beside) ? beside : new URL('./checkpoint-worker.ts', import.meta.url);
}
