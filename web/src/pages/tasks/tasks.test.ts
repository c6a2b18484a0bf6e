import { expect, test } from 'bun:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { AccountChip } from './tasks.tsx';

const of = [
  { id: 'acct_1', name: 'first' },
  { id: 'acct_2', name: 'second' },
];
const chip = (chosen: string | undefined, shown: string | undefined) =>
  renderToStaticMarkup(createElement(AccountChip, { chosen, shown, of, onChange() {} }));

test('another account can be chosen while the first one is shown, and a choice is removed', () => {
  const first = chip(undefined, 'acct_1');
  expect(first).toContain('Account: first');
  expect(first).toContain('>second</button>');
  const second = chip('acct_2', 'acct_2');
  expect(second).toContain('<b>second</b>');
  expect(second).toContain('Remove filter');
});
