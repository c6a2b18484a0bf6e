import { expect, test } from 'bun:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { NamedChip } from './chips.tsx';
import { found, taken } from './choices.ts';
import { NamedSelect } from './fields.tsx';

const many = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `acct_${n}`, name: `account ${n}` }));
const choices = many(5000).map(({ id, name }) => [id, name] as const);
const count = (text: string, part: string) => text.split(part).length - 1;

test('a search finds names and ids, the best first, and shows 50', () => {
  expect(
    found(choices, '  ACCOUNT 42 ')
      .shown.slice(0, 3)
      .map(([id]) => id),
  ).toEqual(['acct_42', 'acct_420', 'acct_421']);
  expect(found(choices, 'acct_4999')).toEqual({ shown: [['acct_4999', 'account 4999']], more: 0 });
  const { shown, more } = found(choices, '');
  expect([shown.length, more]).toEqual([50, 4950]);
});

test('Enter takes the best choice, and an id that is not in the list', () => {
  expect(taken(choices, 'account 7')).toBe('acct_7');
  expect(taken(choices, ' acct_beyond ')).toBe('acct_beyond');
  expect(taken(choices, '  ')).toBe('acct_0');
  expect(taken([], '  ')).toBeUndefined();
});

test('a filter over thousands is searched and lays out 50; over few it is a list', () => {
  const chip = (size: number) =>
    renderToStaticMarkup(
      createElement(NamedChip, { label: 'Account', value: undefined, of: many(size), onChange() {} }),
    );
  expect(count(chip(5000), '<button')).toBe(51);
  expect(chip(5000)).toContain('aria-label="Search Account"');
  expect(chip(5000)).toContain('4950 more');
  expect(count(chip(20), '<button')).toBe(21);
  expect(chip(20)).not.toContain('Search');
});

test('a choice among thousands is searched, and what is chosen stays in it', () => {
  const select = (size: number, value: string) =>
    renderToStaticMarkup(createElement(NamedSelect, { label: 'Account', value, of: many(size), onText() {} }));
  const long = select(5000, 'acct_4321');
  expect(count(long, '<option')).toBe(51);
  expect(long).toContain('<option value="acct_4321" selected="">account 4321</option>');
  expect(long).toContain('aria-label="Search Account"');
  expect(count(select(20, 'acct_3'), '<option')).toBe(20);
  expect(select(20, 'acct_3')).not.toContain('Search');
});
