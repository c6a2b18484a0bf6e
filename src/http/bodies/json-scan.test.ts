import { expect, test } from 'bun:test';
import { fc } from '../../../test/helpers/property.ts';
import { type JsonBounds, scanJson } from './json-scan.ts';

const WIDE: JsonBounds = { depth: 1000, values: 1e9, members: 1e9, membersOfOne: 1e9 };
const scan = (text: string, bounds: Partial<JsonBounds>) => scanJson(Buffer.from(text), { ...WIDE, ...bounds });

/** The smallest limits that admit the value. A simple reference implementation. */
function needs(value: unknown): JsonBounds {
  if (typeof value !== 'object' || value === null) return { depth: 0, values: 0, members: 0, membersOfOne: 0 };
  const inner = Object.values(value).map(needs);
  const own = Array.isArray(value) ? 0 : inner.length;
  const sum = (of: (one: JsonBounds) => number) => inner.reduce((total, one) => total + of(one), 0);
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    // The container itself, and the commas between elements.
    values: 1 + Math.max(0, inner.length - 1) + sum(({ values }) => values),
    members: own + sum(({ members }) => members),
    membersOfOne: Math.max(own, ...inner.map(({ membersOfOne }) => membersOfOne)),
  };
}

test('the counts equal those of the parsed value, with any strings in it', () => {
  const hard = fc.stringMatching(/^["\\{}[\],:a]{0,60}$/);
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.integer(),
      hard,
      fc.string({ maxLength: 100 }),
      fc.array(tie('any'), { maxLength: 5 }),
      fc.dictionary(hard, tie('any'), { maxKeys: 5 }),
    ),
  })).any;
  fc.assert(
    fc.property(value, fc.boolean(), (one, spaced) => {
      const text = JSON.stringify(one, undefined, spaced ? 2 : 0);
      const exact = needs(one);
      expect(scan(text, exact)).toBeUndefined();
      for (const bound of ['depth', 'values', 'members', 'membersOfOne'] as const) {
        if (exact[bound] > 0) expect(scan(text, { [bound]: exact[bound] - 1 })).toBe(bound);
      }
    }),
    { seed: 14, numRuns: 500 },
  );
});

test('long strings and quotes after any number of backslashes are skipped correctly', () => {
  for (let backslashes = 0; backslashes < 60; backslashes++) {
    const text = JSON.stringify({ a: `${'x'.repeat(backslashes % 7)}${'\\'.repeat(backslashes)}"{[,:`, b: [] });
    expect(scan(text, { depth: 2, values: 3, members: 2, membersOfOne: 2 })).toBeUndefined();
    expect(scan(text, { members: 1 })).toBe('members');
  }
  expect(scan(`["${'x'.repeat(1e6)}",1]`, { values: 2 })).toBeUndefined();
  expect(scan(`["${'x'.repeat(1e6)}`, { values: 1 })).toBeUndefined();
});

test('invalid JSON ends the scan without an error', () => {
  for (const text of ['', '"', '\\', '"\\', ']]]]', '}{', '[[[[', '{"a', ':::', '"\\"', '\u0000'])
    expect(() => scan(text, { depth: 2 })).not.toThrow();
  expect(scan('[[[', { depth: 2 })).toBe('depth');
});
