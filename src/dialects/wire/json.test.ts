/** Compares patched bytes with patched objects; nothing else may change. */
import { describe, expect, test } from 'bun:test';
import { fc } from '../../../test/helpers/property.ts';
import type { Json } from '../../canonical/json.ts';
import { memberSpan, patchMembers, replaceOnly, spliceBytes } from './json.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const patched = (body: string, members: { [name: string]: Json | undefined }) =>
  decoder.decode(patchMembers(encoder.encode(body), members));

const name = fc.constantFrom('model', 'n', 'a"b', 'ü', 'stop', '\\', 'x');
const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const blanks = fc.constantFrom('', ' ', '\n\t');
const longString = fc.string({ minLength: 40, maxLength: 120 });

describe('patchMembers', () => {
  test('changes the bytes as assignment and delete change the object', () => {
    const patch = fc.dictionary(name, fc.option(value, { nil: undefined }), { noNullPrototype: true });
    const members = fc.dictionary(name, fc.oneof(value, longString), { noNullPrototype: true });
    fc.assert(
      fc.property(members, patch, blanks, (object, members, blank) => {
        const entries = Object.entries(object).map(
          ([key, one]) => `${JSON.stringify(key)}${blank}:${JSON.stringify(one)}`,
        );
        const body = `${blank}{${blank}${entries.join(`${blank},${blank}`)}${blank}}${blank}`;
        const expected: { [name: string]: unknown } = { ...object };
        for (const [key, one] of Object.entries(members)) {
          if (one === undefined) delete expected[key];
          else expected[key] = one;
        }
        const result = patched(body, members);
        expect(JSON.parse(result)).toEqual(JSON.parse(JSON.stringify(expected)));
        const kept = Object.keys(expected);
        expect(Object.keys(JSON.parse(result))).toEqual(kept);
      }),
    );
  });

  test.each<[string, { [name: string]: Json | undefined }, string]>([
    [
      '{"model":"a","x":1e400,"id":123456789012345678901}',
      { model: 'b' },
      '{"model":"b","x":1e400,"id":123456789012345678901}',
    ],
    ['{ "x" : 1 , "model" : "a" }\n', { model: 'b' }, '{ "x" : 1 , "model" : "b" }\n'],
    ['{"a":{"model":"x"},"model":"a"}', { model: 'b' }, '{"a":{"model":"x"},"model":"b"}'],
    ['{"mod\\u0065l":"a"}', { model: 'b' }, '{"mod\\u0065l":"b"}'],
    ['{"model":"a","model":"c"}', { model: 'b' }, '{"model":"b","model":"b"}'],
    ['{"a":1,"b":2,"c":3}', { a: undefined, b: undefined }, '{"c":3}'],
    ['{"a":1,"b":2,"c":3}', { b: undefined, c: undefined }, '{"a":1}'],
    ['{"a":1, "b":2 }', { a: undefined, b: undefined, c: 0 }, '{"c":0 }'],
    ['{}', { a: [1] }, '{"a":[1]}'],
    ['\ufeff{"a":"}\\""}', { b: null }, '\ufeff{"a":"}\\"","b":null}'],
  ])('%j with %j', (body, members, expected) => {
    expect(patchMembers(encoder.encode(body), members)).toEqual(encoder.encode(expected));
  });

  test.each(['[]', '', '{"a"', '{"a":1', '{"a":"x', '{a:1}', '{"a":1,}', '{"a" 1}', '{"a":}'])('refuses %j', (body) => {
    expect(() => patchMembers(encoder.encode(body), { model: 'b' })).toThrow('JSON object');
  });
});

test('the only member of a name gets another value; a body that has the value already is not copied', () => {
  const body = Buffer.from('{"n":1,"model":"a", "stop":["model"]}');
  const replaced = (name: string, value: Json, of = body) => Buffer.from(replaceOnly(of, name, value) ?? []).toString();
  expect(replaced('model', 'b"')).toBe('{"n":1,"model":"b\\"", "stop":["model"]}');
  expect(replaced('n', 2)).toBe('{"n":2,"model":"a", "stop":["model"]}');
  expect(replaceOnly(body, 'model', 'a')).toBe(body);
  expect(replaced('model', 'a', Buffer.from('{"model":"\\u0061"}'))).toBe('{"model":"a"}');
  for (const doubtful of ['{"model":"a","model":"a"}', '{"n":1,"n":2,"model":"a"}', '{"n":1}', '[]'])
    expect(replaceOnly(Buffer.from(doubtful), 'model', 'a')).toBeUndefined();
});

describe('memberSpan', () => {
  test('finds a value after long strings that end in backslashes', () => {
    fc.assert(
      fc.property(longString, fc.nat(5), (long, slashes) => {
        const bytes = encoder.encode(JSON.stringify({ long: long + '\\'.repeat(slashes), model: 'a' }));
        const span = memberSpan(bytes, 'model');
        expect(decoder.decode(bytes.subarray(span?.start, span?.end))).toBe('"a"');
      }),
    );
  });

  test.each([
    '{"model":"a","text":"\\"model\\":","model":"b"}',
    '{"model":"a","text":"x","mod\\u0065l":"b"}',
    '{"mod\\u0065l":"a","model":"c","model" : "b", "x":{"model":"d"}}',
  ])('finds the last value, as a parser does: %s', (text) => {
    const bytes = encoder.encode(text);
    const span = memberSpan(bytes, 'model');
    expect(decoder.decode(bytes.subarray(span?.start, span?.end))).toBe('"b"');
    expect(JSON.parse(text).model).toBe('b');
  });

  test('starts at the given position and returns nothing if there is none', () => {
    const bytes = encoder.encode('data: {"x":1,"model":"a"}\n\n');
    const span = memberSpan(bytes, 'model', 6) ?? { start: 0, end: 0 };
    expect(decoder.decode(spliceBytes(bytes, span.start, span.end, encoder.encode('"bb"')))).toBe(
      'data: {"x":1,"model":"bb"}\n\n',
    );
    expect(memberSpan(bytes, 'id', 6)).toBeUndefined();
    expect(memberSpan(bytes, 'model')).toBeUndefined();
  });

  test('reads 4 MB of escaped members of this name in linear time', () => {
    const member = '"mod\\u0065l":1,';
    const bytes = encoder.encode(`{${member.repeat(300_000)}"model":"b","x":1}`);
    const began = performance.now();
    const span = memberSpan(bytes, 'model');
    expect(performance.now() - began).toBeLessThan(6000);
    expect(decoder.decode(bytes.subarray(span?.start, span?.end))).toBe('"b"');
  });
});
