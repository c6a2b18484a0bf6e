import { expect, test } from 'bun:test';
import { parseBody } from '../../dialects/shared/request-body.ts';
import { readMembers } from './form.ts';
import { createJsonBodies } from './json-bodies.ts';

const bodies = createJsonBodies({ depth: 100, values: 5000, members: 1000, membersOfOne: 500 });
const LONG = 'ä"\\'.repeat(400_000);
const large = (members: object) => Buffer.from(JSON.stringify({ long: LONG, ...members }));

test('a small body passes at once unchanged; its depth is checked when it is parsed', () => {
  const body = Buffer.from('{"a":[1,2]}');
  expect(bodies.admit(body)).toBe(body);
  const deep = (levels: number) => Buffer.from(JSON.stringify(nested(levels)));
  expect(parseBody(bodies.admit(deep(100)) as Buffer)).toEqual(nested(100));
  const refused = expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining('100 levels') });
  expect(() => parseBody(deep(101))).toThrow(refused);
  expect(() => parseBody(Buffer.from(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`))).toThrow(refused);
});

test('a large body is parsed in a worker: the bytes stay the same and the parsed value is kept', async () => {
  const value = { long: LONG, a: [1, { b: null }] };
  const body = Buffer.from(JSON.stringify(value));
  const copy = Buffer.from(body);
  const admitted = await bodies.admit(body);
  expect(copy.equals(admitted)).toBe(true);
  const parsed = parseBody(admitted);
  expect(parsed).toEqual(value);
  // The body is not parsed a second time.
  expect(parseBody(admitted)).toBe(parsed);
});

test('a body that shares its buffer with other data leaves that data intact', async () => {
  const whole = Buffer.concat([Buffer.from('before'), large({})]);
  const admitted = await bodies.admit(whole.subarray(6));
  expect(whole.toString('latin1', 0, 6)).toBe('before');
  expect(parseBody(admitted)).toEqual({ long: LONG });
});

test('several concurrent bodies keep their own values', async () => {
  const admitted = await Promise.all([1, 2, 3].map((n) => bodies.admit(large({ n }))));
  expect(admitted.map((one) => (parseBody(one) as { n: number }).n)).toEqual([1, 2, 3]);
});

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, 1]));
const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

/** Large enough to be scanned, small enough to be parsed in this thread. */
const middling = (members: object) => Buffer.from(JSON.stringify({ long: LONG.slice(0, 200_000), ...members }));

test.each([
  [{ a: many(501) }, 'request_too_large', 'An object in the body has more than the maximum of 500 members'],
  [{ a: [many(400), many(400), many(400)] }, 'request_too_large', 'more than the maximum of 1000 object members'],
  [{ a: Array(6000).fill(1) }, 'request_too_large', 'more than the maximum of 5000 array elements'],
  [{ a: nested(100) }, 'invalid_request', 'nested more than 100 levels deep'],
])('%#: a body above a limit is refused, with or without the worker', async (members, code, sentence) => {
  const refused = { code, message: expect.stringContaining(sentence) };
  expect(() => bodies.admit(middling(members))).toThrow(expect.objectContaining(refused));
  await expect(Promise.resolve(bodies.admit(large(members)))).rejects.toMatchObject(refused);
});

test('a large body that is invalid JSON is refused; a body that does not start like JSON passes', async () => {
  const broken = Buffer.from(`{"a":"${LONG}`);
  await expect(Promise.resolve(bodies.admit(broken))).rejects.toMatchObject({ code: 'invalid_request' });
  const latin1 = Buffer.concat([Buffer.from(`{"a":"${'x'.repeat(2 ** 21)}`), Buffer.from([0xe4]), Buffer.from('"}')]);
  await expect(Promise.resolve(bodies.admit(latin1))).rejects.toMatchObject({ code: 'invalid_request' });
  const form = Buffer.alloc(2 ** 21, '--b\r\n');
  expect(bodies.admit(form)).toBe(form);
});

test('a form with too many fields is refused before it is parsed', () => {
  const pairs = (count: number) => Buffer.from(Array.from({ length: count }, (_, n) => `a[]=${n}`).join('&'));
  const type = 'application/x-www-form-urlencoded';
  expect(readMembers(pairs(200), type)).toMatchObject({ a: { length: 200 } });
  expect(() => readMembers(pairs(1_000_000), type)).toThrow('A form may have at most 200 fields');
  const part = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n';
  const form = (count: number) => Buffer.from(`${part.repeat(count)}--b--\r\n`);
  expect(readMembers(form(200), 'multipart/form-data; boundary=b')).toMatchObject({ a: { length: 200 } });
  expect(() => readMembers(form(500_000), 'multipart/form-data; boundary=b')).toThrow('more than 200 parts');
  const head = Buffer.from(
    `--b\r\ncontent-disposition: form-data; name="a"\r\nx: ${'y'.repeat(2 ** 20)}\r\n\r\n1\r\n--b--\r\n`,
  );
  expect(() => readMembers(head, 'multipart/form-data; boundary=b')).toThrow('headers do not end');
});
