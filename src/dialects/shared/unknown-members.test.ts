import { expect, test } from 'bun:test';
import { only, unknownMembers } from './unknown-members.ts';

const BLOCK = {
  types: { text: only('type', 'text'), image: { members: { type: 'all', source: only('url') } } },
} as const;

test('unread members are named by path, once', () => {
  const body = {
    content: [
      { type: 'text', text: 'a', mark: 1 },
      { type: 'text', text: 'b', mark: 2, open: null },
      { type: 'image', source: { url: 'u', size: 3 } },
      { type: 'another', anything: 4 },
    ],
    name: { deep: { all: true } },
    beside: 5,
  };
  const known = { members: { content: { each: BLOCK }, name: 'all' } } as const;
  expect(unknownMembers(body, known)).toEqual(['content[].mark', 'content[].source.size', 'beside']);
});

test('values of unexpected types are left to their reader', () => {
  expect(unknownMembers('a text', { each: BLOCK })).toEqual([]);
  expect(unknownMembers({ content: 'a text' }, { members: { content: { each: BLOCK } } })).toEqual([]);
});

test('a type or member with the name of what every object has is no known one', () => {
  const body = { content: [{ type: 'constructor', a: 1 }], toString: { b: 2 }, valueOf: 3 };
  expect(unknownMembers(body, { members: { content: { each: BLOCK } } })).toEqual(['toString', 'valueOf']);
});
