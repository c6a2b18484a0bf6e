import { expect, test } from 'bun:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Decide } from './dispute.tsx';

test('while a dispute is decided, neither decision can be clicked', () => {
  const disabled = (busy: boolean) =>
    renderToStaticMarkup(createElement(Decide, { busy, onDecide() {} })).split('disabled=""').length - 1;
  expect([disabled(false), disabled(true)]).toEqual([0, 2]);
});
