import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onThreadFailure, startThread, workerProgram } from './worker-program.ts';

test('a worker runs from its source, or from next to the bundle', () => {
  const folder = mkdtempSync(join(tmpdir(), 'worker-program-'));
  const source = new URL('./some-worker.ts', import.meta.url);
  try {
    expect(workerProgram(source, join(folder, 'main.js'))).toBe(source.href);
    writeFileSync(join(folder, 'some-worker.js'), '');
    expect(workerProgram(source, join(folder, 'main.js'))).toBe(join(folder, 'some-worker.js'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a thread that cannot start is reported, also where nobody waits for it', async () => {
  const reported = Promise.withResolvers<string[]>();
  onThreadFailure((...members) => reported.resolve(members));
  try {
    startThread(join(tmpdir(), 'no-such-worker.js'));
    const [thread, message] = await reported.promise;
    expect(thread).toBe('no-such-worker');
    expect(message).toContain('no-such-worker.js');
  } finally {
    onThreadFailure(() => {});
  }
});
