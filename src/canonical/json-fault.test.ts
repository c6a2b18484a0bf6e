import { expect, test } from 'bun:test';
import { jsonFault, placeOf } from './json-fault.ts';

test.each([
  ['{"model": ', 10],
  ['{"model": x}', 10],
  ['{"a": 1,}', 8],
  ['[1, 2,]', 6],
  ['{"a" 1}', 5],
  ["{'a': 1}", 1],
  ['{"a": "b\nc"}', 8],
  ['{"a": "\\x"}', 7],
  ['{"a": "b', 8],
  ['{"a": 1]', 7],
  ['{"a": 01}', 7],
  ['{"a": 1} {', 9],
  ['{"a": undefined}', 6],
  ['{"a": {"b": [1, {"c": }]}}', 22],
] as const)('%s is invalid from position %i', (text, at) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(jsonFault(text)).toBe(at);
});

test('in valid JSON the fault is after the end', () => {
  for (const text of ['{}', '[]', '{"a":[1,{"b":null}],"c":"\\u00e4\\n"}', ' -1.5e+3 ', '"x"', 'true'])
    expect(jsonFault(text)).toBe(text.length);
});

test('a position is given as line and column', () => {
  expect(placeOf('{\n  "a": 1,\n}', 12)).toBe('line 3, column 1');
  expect(placeOf('{', 0)).toBe('line 1, column 1');
});
