import { expect, test } from 'bun:test';
import { Type } from 'typebox';
import type { JsonObject } from '../../canonical/json.ts';
import { extrasOf, memberCheck } from './checked-members.ts';
import {
  byType,
  callerNames,
  closed,
  knownMembers,
  number,
  objectOf,
  open,
  text,
  topMembers,
} from './request-shape.ts';
import { unknownMembers } from './unknown-members.ts';

const PARTS = () => ({ text: closed({ text: Type.String() }), audio: closed({ data: Type.String() }) });
const Request = Type.Object({
  model: Type.String({ minLength: 1, description: 'the name of a model' }),
  items: Type.Array(
    objectOf(() => closed({ role: text(), parts: Type.Array(byType(PARTS)) })),
    { minItems: 1, description: 'a list of items' },
  ),
  config: open(
    Type.Object({ heat: number(0, 2, { $means: 'temperature' }), format: open(closed({ type: text() }), 'an object') }),
    'an object',
  ),
  documents: Type.Optional(
    Type.Array(Type.Union([Type.String(), Type.Object({ text: Type.String() })], { description: 'a text' })),
  ),
  word: text({ $aside: true }),
});
const check = memberCheck(Request);
const refused = (body: JsonObject) => {
  try {
    check(body);
  } catch (error) {
    const { param, message } = error as { param: string; message: string };
    return [param, message];
  }
  return undefined;
};

test('one schema checks the top-level members, and leaves nested ones to the reader', () => {
  expect(refused({ model: 'm', items: [{ anything: 1 }], other: 1, word: null })).toBeUndefined();
  expect(refused({ items: [{}] })).toEqual(['model', '`model` is required: the name of a model.']);
  expect(refused({ model: 'm', items: [] })).toEqual(['items', '`items` must be a list of items.']);
  expect(refused({ model: 'm', items: [{}], config: { heat: 3 } })).toEqual([
    'config.heat',
    '`config.heat` must be a number from 0 to 2.',
  ]);
  expect(refused({ model: 'm', items: [{}], documents: ['a', { text: 1 }] })).toEqual([
    'documents[1]',
    '`documents[1]` must be a text.',
  ]);
});

test('a translation reports unknown members at every depth by the same schema', () => {
  const known = knownMembers(Request)();
  const body = {
    model: 'm',
    items: [
      {
        role: 'user',
        mark: 1,
        parts: [
          { type: 'text', text: 'a', size: 1 },
          { type: 'other', size: 1 },
        ],
      },
    ],
    config: { heat: 1, cold: 2, format: { type: 'x', strict: true } },
  };
  expect(unknownMembers(body, known)).toEqual(['items[].mark', 'items[].parts[].size', 'config.format.strict']);
});

test('which members are extras, and what members are called', () => {
  expect(extrasOf({ model: 'm', word: 'w', more: 1 }, topMembers(Request), 'own')).toEqual({
    own: { word: 'w', more: 1 },
  });
  expect(extrasOf({ model: 'm' }, topMembers(Request), 'own')).toEqual({});
  expect(callerNames(Request)).toEqual({ temperature: 'config.heat' });
});
