import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { coresText, putBetweenMarks, writeExpectations } from './expectations.ts';
import type { Figures, GatewayResult, Windows } from './figures.ts';

const gateway = (name: string, totalCpuPerRequestUs: number): GatewayResult => ({
  name,
  title: name,
  version: '1',
  does: 'all',
  figures: { totalCpuPerRequestUs, cpuPerChunkUs: 30 } as Figures,
  windows: {} as Windows,
});

test('cores are written as shares of one until there are several', () => {
  expect([0.002, 0.034, 0.999, 3.54].map(coresText)).toEqual([
    'below 1 % of a core',
    '3 % of a core',
    '100 % of a core',
    '3.5 cores',
  ]);
});

test('what to expect is computed from the costs of a call and a chunk', () => {
  const text = writeExpectations([gateway('modelport', 200), gateway('modelport-shared', 350)]);
  expect(text).toStartWith(
    'A call takes 0.20 ms of processor time on SQLite and 0.35 ms on Postgres with Redis; a streamed chunk takes 0.03 ms.',
  );
  expect(text).toContain('| 1 call a second | below 1 % of a core; with 100 chunks a reply below 1 % of a core |');
  expect(text).toContain(
    '| 1,000 calls a second | 20 % of a core to 35 % of a core; with 100 chunks a reply 3.2 cores |',
  );
  expect(text).toContain('1 chunk a second in each: 30 % of a core; 10 chunks: 3.0 cores');
  expect(writeExpectations([gateway('nginx', 30)])).toBeUndefined();
});

test('the scale guide has the marks, and only what is between them changes', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/guides/scale.md'), 'utf8');
  const written = putBetweenMarks(page, 'new');
  expect(written).toContain('-->\n\nnew\n\n<!--');
  expect(putBetweenMarks(written, 'new')).toBe(written);
  expect(written.split('###')[1]).toBe(page.split('###')[1] as string);
  expect(() => putBetweenMarks('nothing', 'new')).toThrow('does not have');
});
