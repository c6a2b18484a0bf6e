/** Verifies the ledger in a worker thread. */
import { workerProgram } from '../../canonical/worker-program.ts';
import type { VerifyOptions } from '../verify/books-reader.ts';
import { NO_CHECKPOINTS } from '../verify/checkpoint.ts';
import type { VerifyReport } from '../verify/report.ts';
import type { VerificationAsked, VerificationSaid } from './verify-worker.ts';

export function verifySqlite(path: string, options: VerifyOptions): Promise<VerifyReport> {
  const { known = NO_CHECKPOINTS, full = false, progress = () => {}, reached = () => {} } = options;
  const thread = new Worker(workerProgram(new URL('./verify-worker.ts', import.meta.url)));
  const ended = new Promise<VerifyReport>((resolve, reject) => {
    thread.onerror = ({ message }) => reject(new Error(`The verification failed: ${message}`));
    thread.onmessage = ({ data: said }: MessageEvent<VerificationSaid>) => {
      if (said.type === 'progress') progress(said.progress);
      else if (said.type === 'reached') reached(said.reached);
      else if (said.type === 'report') resolve(said.report);
      else reject(said.thrown);
    };
  });
  thread.postMessage({ path, known, full } satisfies VerificationAsked);
  return ended.finally(() => thread.terminate());
}
