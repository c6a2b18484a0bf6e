/** Of the processes that would install the same packages, one does. */
import { mkdirSync, rmSync, statSync } from 'node:fs';

/**
 * Whether this process installs: it made the folder `installing`, and removes it when it has finished. What a killed process left behind is
 * removed after `staleMs`, so that the next attempt gets it.
 */
export function claim(installing: string, staleMs: number): boolean {
  try {
    mkdirSync(installing);
    return true;
  } catch {
    const age = Date.now() - (statSync(installing, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > staleMs) rmSync(installing, { recursive: true, force: true });
    return false;
  }
}
