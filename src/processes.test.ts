import { expect, test } from 'bun:test';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useTempFolder } from '../test/helpers/temp-folder.ts';
import type { Config } from './config.ts';
import { createLog } from './log.ts';
import { serveProcesses } from './processes.ts';

const folder = useTempFolder('processes');

test.skipIf(process.platform === 'win32')(
  'a process that dies while the program is replaced is started when the program is there again',
  async () => {
    const [program, script] = [join(folder, 'program'), join(folder, 'worker.js')];
    symlinkSync(process.execPath, program);
    writeFileSync(
      script,
      `process.send({ type: 'ready' }); process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000);
       console.log('pid ' + process.pid);`,
    );
    const lines: string[] = [];
    let seen = () => {};
    const write = (text: string) => {
      lines.push(text);
      seen();
    };
    const printed = async (text: string, times = 1) => {
      while (lines.filter((line) => line.includes(text)).length < times)
        await new Promise<void>((resolve) => {
          seen = resolve;
        });
    };
    const stop = Promise.withResolvers<void>();
    const ready = Promise.withResolvers<void>();
    const served = serveProcesses({ host: '127.0.0.1', port: 0, drainMs: 1000, stallMs: 0 } as Config, 1, {
      command: [program, script],
      env: process.env,
      log: createLog('info', write, Date.now),
      write,
      ready: () => ready.resolve(),
      onReload: () => {},
      stopRequested: () => stop.promise,
    });
    await Promise.all([ready.promise, printed('pid ')]);
    rmSync(program);
    const [first = ''] = lines.filter((line) => line.startsWith('pid '));
    process.kill(Number(first.slice(4)), 'SIGKILL');
    await printed('a process could not be started');
    symlinkSync(process.execPath, program);
    await printed('pid ', 2);
    stop.resolve();
    expect(await served).toBe(0);
  },
);

test('a program that is missing at the first start is an error', () => {
  const served = serveProcesses({ host: '127.0.0.1', port: 0, drainMs: 1000, stallMs: 0 } as Config, 1, {
    command: [join(folder, 'missing')],
    env: {},
    log: createLog('silent', () => {}, Date.now),
    write: () => {},
    ready: () => {},
    onReload: () => {},
    stopRequested: () => new Promise(() => {}),
  });
  return expect(served).rejects.toThrow('missing');
});
