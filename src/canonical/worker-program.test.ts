import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workerProgram } from './worker-program.ts';

test('a worker runs from its source, or from next to the bundle', () => {
  const folder = mkdtempSync(join(tmpdir(), 'worker-program-'));
  const source = new URL('./some-worker.ts', import.meta.url);
  try {
    expect(workerProgram(source, join(folder, 'main.js'))).toBe(source.href);
    writeFileSync(join(folder, 'some-worker.ts'), '');
    expect(workerProgram(source, join(folder, 'main.js'))).toBe(join(folder, 'some-worker.ts'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
