/** Finds the programs of worker threads. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * The path of a worker's program: next to the bundle if the program runs from one, otherwise its file in `src/`. A bundle knows the
 * addresses of its sources only as they were when it was built.
 */
export function workerProgram(source: URL, main = Bun.main): string {
  const bundled = join(dirname(main), basename(source.pathname));
  return existsSync(bundled) ? bundled : source.href;
}
