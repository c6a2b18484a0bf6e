import { describe, expect, test } from 'bun:test';
import { createSampler } from './sampler.ts';
import { newSpanId, newTraceId, readParent, writeParent } from './trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const read = (traceparent: string, tracestate?: string) =>
  readParent(new Headers({ traceparent, ...(tracestate && { tracestate }) }));

describe('traceparent', () => {
  test('names the trace, the span of the caller, and whether it is sampled', () => {
    const parent = { traceId: TRACE, spanId: SPAN, state: '' };
    expect(read(`00-${TRACE}-${SPAN}-01`)).toEqual({ ...parent, isSampled: true });
    expect(read(`00-${TRACE}-${SPAN}-00`)).toEqual({ ...parent, isSampled: false });
    // The flag of a random identifier, which later versions of the standard define.
    expect(read(`00-${TRACE}-${SPAN}-02`)).toEqual({ ...parent, isSampled: false });
    // A later version may say more.
    expect(read(`cc-${TRACE}-${SPAN}-01-what-the-future-will-be`)).toEqual({ ...parent, isSampled: true });
  });

  test.each([
    '',
    'x',
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  ])('that is not valid is as none: %p', (traceparent) => {
    expect(read(traceparent)).toBeUndefined();
  });

  test('is written as it is read', () => {
    expect(writeParent(TRACE, SPAN, true)).toBe(`00-${TRACE}-${SPAN}-01`);
    expect(read(writeParent(newTraceId(), newSpanId(), false))?.isSampled).toBe(false);
  });

  test('identifiers are random and have their lengths', () => {
    const ids = new Set(Array.from({ length: 2000 }, newTraceId));
    expect(ids.size).toBe(2000);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(newSpanId()).toMatch(/^[0-9a-f]{16}$/);
  });
});

test.each([
  ['rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
  ['tenant@system=value with spaces , a=b', 'tenant@system=value with spaces,a=b'],
  ['Upper=1', ''],
  ['a', ''],
  ['a=b=c', ''],
  [Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(','), ''],
  [`a=${'x'.repeat(600)}`, ''],
] as const)('tracestate %p is passed on as %p', (given, passed) => {
  expect(read(`00-${TRACE}-${SPAN}-01`, given)?.state).toBe(passed);
});

describe('samplers', () => {
  const parent = (isSampled: boolean) => ({ traceId: TRACE, spanId: SPAN, isSampled, state: '' });

  test.each([
    ['always_on', 1, undefined, true],
    ['always_on', 1, parent(false), true],
    ['always_off', 1, parent(true), false],
    ['parentbased_always_on', 1, undefined, true],
    ['parentbased_always_on', 1, parent(false), false],
    ['parentbased_always_off', 1, undefined, false],
    ['parentbased_always_off', 1, parent(true), true],
    ['parentbased_traceidratio', 0, undefined, false],
    ['parentbased_traceidratio', 0, parent(true), true],
    ['traceidratio', 0, parent(true), false],
    ['traceidratio', 1, parent(false), true],
  ] as const)('%s with %p and the parent %p: %p', (name, ratio, of, samples) => {
    expect(createSampler(name, ratio).samples(TRACE, of)).toBe(samples);
  });

  test('a ratio samples that share of the traces, and the same ones everywhere', () => {
    const [one, other] = [createSampler('traceidratio', 0.25), createSampler('traceidratio', 0.5)];
    const ids = Array.from({ length: 8000 }, newTraceId);
    const sampled = ids.filter((id) => one.samples(id, undefined));
    // The expected number is 2000 with a standard deviation of 39.
    expect(sampled.length).toBeGreaterThan(1700);
    expect(sampled.length).toBeLessThan(2300);
    expect(sampled.every((id) => other.samples(id, undefined))).toBe(true);
  });

  test('only always_off drops everything that it does not sample', () => {
    expect(createSampler('traceidratio', 0).keepsErrors).toBe(true);
    expect(createSampler('always_off', 1).keepsErrors).toBe(false);
    expect(createSampler('parentbased_always_off', 1).keepsErrors).toBe(false);
  });
});
