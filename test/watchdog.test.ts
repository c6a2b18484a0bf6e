/** Runs in a separate process, which it ends. */

import { expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const MODULE = JSON.stringify(join(import.meta.dirname, '../src/watchdog.ts'));

async function run(script: string): Promise<{ code: number | null; signal: string | null; ms: number; err: string }> {
  const started = performance.now();
  const child = spawn(process.execPath, ['-e', `import { startWatchdog } from ${MODULE}; ${script}`]);
  let err = '';
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const late = setTimeout(() => child.kill('SIGKILL'), 50_000);
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.on('close', (...ended) => resolve(ended)),
  );
  clearTimeout(late);
  return { code, signal, ms: performance.now() - started, err };
}

test('a blocked event loop ends its process', async () => {
  const ended = await run('startWatchdog(600); setTimeout(() => { for (;;); }, 100);');
  expect(ended.signal).toBe('SIGKILL');
  expect(ended.err).toContain('has not turned for 600 ms');
  expect(ended.ms).toBeLessThan(45_000);
}, 60_000);

test('a shorter block does not end the process, and a watchdog keeps no process alive', async () => {
  const script = 'startWatchdog(3000); setTimeout(() => { Bun.sleepSync(700); console.error("went on"); }, 50);';
  expect(await run(script)).toMatchObject({ code: 0, signal: null, err: 'went on\n' });
}, 60_000);

test('a stopped watchdog does nothing', async () => {
  const script = 'startWatchdog(300)(); setTimeout(() => { Bun.sleepSync(900); console.error("went on"); }, 50);';
  expect(await run(script)).toMatchObject({ code: 0, err: 'went on\n' });
}, 60_000);
