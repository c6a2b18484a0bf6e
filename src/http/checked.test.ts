import { expect, test } from 'bun:test';
import { Type } from 'typebox';
import { GatewayError } from '../canonical/errors.ts';
import { createBodyCheck, createQueryCheck } from './checked.ts';

const check = createBodyCheck(
  Type.Object(
    {
      name: Type.String({ minLength: 1, description: 'a name' }),
      count: Type.Optional(Type.Integer({ minimum: 1, description: 'a number, at least 1' })),
      budget: Type.Optional(
        Type.Union([Type.String(), Type.Object({ day: Type.String() }, { additionalProperties: false })], {
          description: 'a total, or {day}',
        }),
      ),
      models: Type.Optional(Type.Array(Type.String(), { description: 'a list of names' })),
      inner: Type.Optional(Type.Object({ deep: Type.Boolean() })),
      order: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')])),
    },
    { additionalProperties: false },
  ),
);

function fault(body: string | object): [string, string | undefined] {
  try {
    check(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
  } catch (thrown) {
    const error = thrown as GatewayError;
    expect(error).toBeInstanceOf(GatewayError);
    expect(error.code).toBe('invalid_request');
    return [error.message, error.param];
  }
  throw new Error('nothing was thrown');
}

test('a body that matches the schema is returned', () => {
  const body = { name: 'a', count: 2, budget: { day: '1' }, models: ['x'] };
  expect(check(Buffer.from(JSON.stringify(body)))).toEqual(body);
});

test('the error names the wrong member and the expected value', () => {
  expect(fault({})).toEqual(['"name" is missing.', 'name']);
  expect(fault('')).toEqual(['"name" is missing.', 'name']);
  expect(fault({ name: '' })).toEqual(['"name" must be a name.', 'name']);
  expect(fault({ name: 'a', count: 0 })).toEqual(['"count" must be a number, at least 1.', 'count']);
  expect(fault({ name: 'a', count: '3' })).toEqual(['"count" must be a number, at least 1.', 'count']);
  expect(fault({ name: 'a', colour: 'red' })).toEqual(['"colour" is not a known member.', 'colour']);
  expect(fault({ name: 'a', budget: 5 })).toEqual(['"budget" must be a total, or {day}.', 'budget']);
  expect(fault({ name: 'a', order: 'up' })).toEqual(['"order" must be one of "asc", "desc".', 'order']);
  expect(fault({ name: 'a', inner: {} })).toEqual(['"inner.deep" is missing.', 'inner.deep']);
  expect(fault({ name: 'a', models: ['x', 5] })).toEqual(['"models[1]" must be string.', 'models[1]']);
});

test('a body that is not a JSON object is refused as such', () => {
  expect(fault('{"name":')[0]).toBe('The body is not valid JSON. It ends too early, at line 1, column 9.');
  expect(fault('[]')[0]).toBe('The body must be a JSON object.');
  expect(fault('null')[0]).toBe('The body must be a JSON object.');
});

test('a query is parsed by its schema, and unknown parameters are ignored', () => {
  const read = createQueryCheck(
    Type.Object({ limit: Type.Optional(Type.Integer({ maximum: 10 })), after: Type.Optional(Type.String()) }),
  );
  expect(read(new URLSearchParams('limit=5&after=7&colour=red'))).toEqual({ limit: 5, after: '7' });
  expect(read(new URLSearchParams('limit='))).toEqual({});
  for (const limit of ['11', 'five', '5.5']) expect(() => read(new URLSearchParams({ limit }))).toThrow('"limit"');
});
