/** Verifies the ledger in a worker thread. */
import { existsSync } from 'node:fs';
import type { VerifyOptions } from '../verify/books-reader.ts';
import { NO_CHECKPOINTS } from '../verify/checkpoint.ts';
import type { VerifyReport } from '../verify/report.ts';
import type { VerificationAsked, VerificationSaid } from './verify-worker.ts';

export function verifySqlite(path: string, options: VerifyOptions): Promise<VerifyReport> {
  const { known = NO_CHECKPOINTS, full = false, progress = () => {}, reached = () => {} } = options;
  const thread = new Worker(programUrl().href);
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

/** Next to this file, or next to the bundle that contains it. */
function programUrl(): URL {
  const beside = new URL('./verify-worker.ts', import.meta.url);
  return existsSync(beside) ? beside : new URL('./verify-worker.ts', import.meta.url);
}
