/** Finds the programs of worker threads and starts them. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * The path of a thread's program: next to the bundle if the program runs from one (a folder, or the files embedded in the binary),
 * otherwise its file in `src/`. A bundle knows the addresses of its sources only as they were when it was built.
 */
export function workerProgram(source: URL, main = Bun.main): string {
  const bundled = join(dirname(main), `${basename(source.pathname, '.ts')}.js`);
  return existsSync(bundled) ? bundled : source.href;
}

type Report = (thread: string, message: string) => void;
let report: Report = () => {};

/** Sets what is done when a thread fails, or fails to start. */
export function onThreadFailure(fresh: Report): void {
  report = fresh;
}

/** Starts a thread and reports its failure. What waits for the thread also sets its `onerror`. */
export function startThread(program: string, options: WorkerOptions = {}): Worker {
  const thread = new Worker(program, options);
  thread.addEventListener('error', (event) => {
    event.preventDefault();
    report(basename(program, '.js'), event.message);
  });
  return thread;
}
