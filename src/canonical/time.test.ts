import { expect, test } from 'bun:test';
import { pause } from './time.ts';

test('a pause of a fraction of a millisecond is not left out', async () => {
  for (const ms of [0.2, 0.9, 1.7]) {
    const before = performance.now();
    await pause(ms);
    expect(performance.now() - before).toBeGreaterThanOrEqual(ms);
  }
});

test('a process with nothing but a pause to wait for stays alive', () => {
  const program = `
    const { pause } = await import(${JSON.stringify(`${import.meta.dir}/time.ts`)});
    setTimeout(() => void pause(5).then(() => console.log('over')), 1);`;
  const { stdout, exitCode } = Bun.spawnSync([process.execPath, '-e', program]);
  expect({ exitCode, printed: stdout.toString() }).toEqual({ exitCode: 0, printed: 'over\n' });
});
