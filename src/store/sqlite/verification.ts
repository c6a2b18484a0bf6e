/** Verifies the ledger in a worker thread. */
import { startThread, workerProgram } from '../../canonical/worker-program.ts';
import type { VerifyOptions } from '../verify/books-reader.ts';
import { NO_CHECKPOINTS } from '../verify/checkpoint.ts';
import type { VerifyReport } from '../verify/report.ts';
import type { VerificationMessage, VerificationRequest } from './verify-worker.ts';

/** Starting the thread takes 20 ms of processor time, verifying a small ledger 3 ms: the next verification soon after uses the same thread. */
const IDLE_MS = 5000;

const threads = createThreadPool();

export async function verifySqlite(path: string, options: VerifyOptions): Promise<VerifyReport> {
  const { known = NO_CHECKPOINTS, full = false, progress = () => {}, reached = () => {} } = options;
  const thread = threads.take();
  const ended = new Promise<EndMessage>((resolve, reject) => {
    thread.onerror = ({ message }) => {
      thread.terminate();
      reject(new Error(`The verification failed: ${message}`));
    };
    thread.onmessage = ({ data: received }: MessageEvent<VerificationMessage>) => {
      if (received.type === 'progress') progress(received.progress);
      else if (received.type === 'reached') reached(received.reached);
      else resolve(received);
    };
  });
  thread.postMessage({ path, known, full } satisfies VerificationRequest);
  const last = await ended;
  threads.keep(thread);
  if (last.type === 'failed') throw last.thrown;
  return last.report;
}

type EndMessage = Extract<VerificationMessage, { type: 'report' | 'failed' }>;

/** Keeps one idle thread for a while. It does not keep the process alive. */
function createThreadPool() {
  let idle: Worker | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function end(): void {
    idle?.terminate();
    idle = undefined;
  }

  return {
    take(): Worker {
      clearTimeout(timer);
      const thread = idle ?? startThread(workerProgram(new URL('./verify-worker.ts', import.meta.url)));
      idle = undefined;
      thread.ref();
      return thread;
    },
    keep(thread: Worker): void {
      clearTimeout(timer);
      end();
      idle = thread;
      thread.unref();
      timer = setTimeout(end, IDLE_MS).unref();
    },
  };
}
