import { expect, test } from 'bun:test';
import { GatewayError } from '../../canonical/errors.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import { errorIn, hasReasoning, hasUsage, joinBytes } from './upstream.ts';

const frame = (...events: ReplyEvent[]) => ({ bytes: new Uint8Array(), events });
const usage = (input: number, output: number): ReplyEvent => ({
  type: 'usage',
  usage: { input, output, source: 'reported' },
});
const delta: ReplyEvent = { type: 'part-delta', choice: 0, part: 0, delta: 'x' };

test('the first error of a frame is found', () => {
  const error = new GatewayError('upstream_failed', 'No.');
  expect(errorIn(frame(delta, { type: 'error', error }))).toBe(error);
  expect(errorIn(frame(delta))).toBeUndefined();
});

test('reasoning is seen where a part of it begins', () => {
  const opens = { type: 'reasoning' } as const;
  expect(hasReasoning(frame({ type: 'part-start', choice: 0, part: 0, opens }))).toBe(true);
  expect(hasReasoning(frame({ type: 'part-start', choice: 0, part: 0, opens: { type: 'text' } }, delta))).toBe(false);
});

test('a usage report of zero counts as no report', () => {
  expect(hasUsage(frame(usage(0, 0)))).toBe(false);
  expect(hasUsage(frame(delta, usage(0, 1)))).toBe(true);
});

test('a single array of bytes is not copied', () => {
  const only = new Uint8Array([1, 2]);
  expect(joinBytes([only])).toBe(only);
  expect([...joinBytes([only, new Uint8Array([3])])]).toEqual([1, 2, 3]);
});
