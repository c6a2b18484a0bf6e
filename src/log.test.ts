import { expect, test } from 'bun:test';
import { createLog } from './log.ts';

function logged(say: (log: ReturnType<typeof createLog>) => void, process?: number): unknown[] {
  let written = '';
  const log = createLog(
    'info',
    (lines) => (written += lines),
    () => 7,
    process,
  );
  say(log);
  expect(written).toBe('');
  log.flush();
  return written
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

test('each event is a line of JSON, in order, with its members', () => {
  const lines = logged((log) => {
    log.info('first', { id: 'a', none: undefined });
    log.warn('"second"\n');
    log.error('third', () => ({ late: true }));
    log.info('empty', {});
  }, 3);
  expect(lines).toEqual([
    { level: 30, time: 7, process: 3, msg: 'first', id: 'a' },
    { level: 40, time: 7, process: 3, msg: '"second"\n' },
    { level: 50, time: 7, process: 3, msg: 'third', late: true },
    { level: 30, time: 7, process: 3, msg: 'empty' },
  ]);
});

test('an event that cannot be written does not affect other lines', () => {
  const lines = logged((log) => {
    log.info('before');
    log.error('broken', { amount: 1n });
    log.info('after');
  });
  expect(lines).toMatchObject([{ msg: 'before' }, { msg: 'broken', unwritten: expect.any(String) }, { msg: 'after' }]);
});

test('events below the level are dropped, and others are buffered', async () => {
  const written: string[] = [];
  const log = createLog('warn', (lines) => written.push(lines), Date.now);
  log.info('never');
  log.warn('one');
  log.error('two');
  for (let i = 0; i < 100 && written.length === 0; i++) await Bun.sleep(10);
  expect(written).toHaveLength(1);
  expect(written[0]?.split('\n')).toHaveLength(3);
});

test('many events are written before the pause is over', async () => {
  const written: string[] = [];
  const log = createLog('info', (lines) => written.push(lines), Date.now);
  for (let i = 0; i < 64; i++) log.info('one');
  expect(written).toHaveLength(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toHaveLength(1);
  expect(written[0]?.split('\n')).toHaveLength(65);
});
