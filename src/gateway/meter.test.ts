import { expect, test } from 'bun:test';
import { Meter } from './meter.ts';

const delta = (text: string) => ({ type: 'part-delta', choice: 0, part: 0, delta: text }) as const;

test('what the vendor reports at the end counts', () => {
  const meter = new Meter(100);
  meter.see([
    delta('hello'),
    { type: 'usage', usage: { input: 7, output: 2, source: 'reported' } },
    { type: 'reply-end' },
  ]);
  expect(meter.usage()).toEqual({ input: 7, output: 2, source: 'reported' });
});

test('a partial report counts, but never for less than was delivered', () => {
  const meter = new Meter(100);
  meter.see([{ type: 'usage', usage: { input: 7, output: 1, source: 'reported' } }, delta('x'.repeat(40))]);
  expect(meter.usage()).toEqual({ input: 7, output: 10, source: 'partial' });
});

test('without any report the delivered text is counted, in bytes', () => {
  const meter = new Meter(100);
  meter.see([delta('äöü')]);
  expect(meter.usage()).toEqual({ input: 100, output: 2, source: 'counted' });
});

test('a role alone is nothing delivered', () => {
  const meter = new Meter(100);
  meter.see([
    { type: 'reply-start', id: 'a', model: 'm' },
    { type: 'part-start', choice: 0, part: 0, opens: { type: 'text' } },
  ]);
  expect(meter.delivered).toBe(false);
  meter.see([delta('a')]);
  expect(meter.delivered).toBe(true);
});

test('pictures and sounds are counted as what they are, not by their length', () => {
  const meter = new Meter(10);
  meter.see([
    { type: 'part-start', choice: 0, part: 0, opens: { type: 'image', mimeType: 'image/png' } },
    { type: 'part-delta', choice: 0, part: 0, delta: 'A'.repeat(4000) },
    { type: 'part-start', choice: 0, part: 1, opens: { type: 'audio', id: 'a' } },
    { type: 'part-delta', choice: 0, part: 1, delta: 'A'.repeat(4000) },
    { type: 'part-start', choice: 1, part: 0, opens: { type: 'text' } },
    { type: 'part-delta', choice: 1, part: 0, delta: 'four' },
  ]);
  expect(meter.usage()).toEqual({ input: 10, output: 1, images: 1, source: 'counted' });
  meter.see([{ type: 'usage', usage: { input: 7, output: 1290, source: 'reported' } }, { type: 'reply-end' }]);
  expect(meter.usage()).toEqual({ input: 7, output: 1290, images: 1, source: 'reported' });
});
