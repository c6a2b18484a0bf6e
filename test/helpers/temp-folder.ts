/** A folder for the tests of one file. */
import { afterAll } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes the folder, and removes it with all that is in it when the tests of the file have ended. */
export function useTempFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `modelport-${name}-`));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
