import { expect, test } from 'bun:test';
import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useTempFolder } from '../test/helpers/temp-folder.ts';
import type { Config } from './config.ts';
import { createLog } from './log.ts';
import { type ProcessesOptions, serveProcesses } from './processes.ts';

const folder = useTempFolder('processes');

const serve = (count: number, options: Partial<ProcessesOptions> & Pick<ProcessesOptions, 'command'>) =>
  serveProcesses({ host: '127.0.0.1', port: 0, drainMs: 1000, stallMs: 0 } as Config, count, {
    env: process.env,
    log: createLog('silent', () => {}, Date.now),
    write: () => {},
    ready: () => {},
    onReload: () => {},
    stopRequested: () => new Promise(() => {}),
    ...options,
  });

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
    const served = serve(1, {
      command: [program, script],
      log: createLog('info', write, Date.now),
      write,
      ready: () => ready.resolve(),
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
  return expect(serve(1, { command: [join(folder, 'missing')], env: {} })).rejects.toThrow('missing');
});

test.skipIf(process.platform === 'win32')('the error tells how a process ended that did not start', async () => {
  const ends = (how: string) => serve(1, { command: ['/bin/sh', '-c', how] });
  await expect(ends('exit 3')).rejects.toThrow('Process 1 could not start, it ended with code 3');
  await expect(ends('kill -KILL $$')).rejects.toThrow('Process 1 could not start, it was ended by SIGKILL');
});

test('metrics have all processes, also if this one was stopped while they answered', async () => {
  const script = join(folder, 'scraped.js');
  writeFileSync(
    script,
    `const { existsSync, writeFileSync } = require('node:fs');
     const number = process.env.MODELPORT_WORKER;
     process.chdir(process.env.FOLDER);
     const families = [{ name: 'n', type: 'counter', help: 'Numbers.', labels: [], samples: [{ labels: [], value: 1 }] }];
     process.on('SIGTERM', () => process.exit(0));
     process.on('message', async ({ type, scrape, text }) => {
       if (type === 'reload' && number === '1') process.send({ type: 'gather', scrape: 1, format: 'prometheus' });
       if (type === 'gathered') console.log('gathered ' + JSON.stringify(text));
       if (type !== 'scrape') return;
       console.log('scraped');
       while (!existsSync('blocked')) await Bun.sleep(5);
       process.send({ type: 'scraped', scrape, families });
       writeFileSync('sent-' + number, '');
     });
     process.send({ type: 'ready' });`,
  );
  const inFolder = (name: string) => existsSync(join(folder, name));
  const gathered = Promise.withResolvers<string>();
  /** Until both have answered, and longer than the supervisor waits for answers. */
  function block(): void {
    const start = performance.now();
    writeFileSync(join(folder, 'blocked'), '');
    const isOver = () => inFolder('sent-1') && inFolder('sent-2') && performance.now() - start > 1100;
    while (!isOver() && performance.now() - start < 60_000) Bun.sleepSync(5);
  }
  const ready = Promise.withResolvers<void>();
  const stop = Promise.withResolvers<void>();
  let reload = () => {};
  const served = serve(2, {
    command: [process.execPath, script],
    env: { ...process.env, FOLDER: folder },
    write: (lines) => {
      for (const line of lines.trimEnd().split('\n')) {
        if (line === 'scraped' && !inFolder('blocked')) block();
        if (line.startsWith('gathered ')) gathered.resolve(JSON.parse(line.slice('gathered '.length)));
      }
    },
    ready: () => ready.resolve(),
    onReload: (run) => {
      reload = run;
    },
    stopRequested: () => stop.promise,
  });
  await ready.promise;
  reload();
  const text = await gathered.promise;
  stop.resolve();
  await served;
  expect(text).toContain('{process="1"} 1');
  expect(text).toContain('{process="2"} 1');
});
