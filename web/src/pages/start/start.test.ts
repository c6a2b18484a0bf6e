import { expect, test } from 'bun:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { StartBox } from './start.tsx';

const ERROR = 'No passkey was used.';
const idle = { busy: false, saved: false, error: undefined, run: async () => {}, submit: () => () => {}, touch() {} };
const done = async () => {};

const page = (password: boolean, saving: Parameters<typeof StartBox>[0]['saving']) =>
  renderToStaticMarkup(
    createElement(StartBox, {
      ...{ ways: { password, passkeys: true }, saving, children: 'PASSWORD' },
      ...{ onPassword: done, onPasskey: done, onLater: () => {} },
    }),
  );

test.each([true, false])('the first page says once why a passkey failed, with passwords on or off (%p)', (password) => {
  const texts = page(password, { ...idle, error: new Error(ERROR) }).split(ERROR);
  expect(texts).toHaveLength(2);
  expect(page(password, idle)).not.toContain(ERROR);
  expect(page(password, idle).includes('PASSWORD')).toBe(password);
});

test('a second passkey is not asked for while the first one is added', () => {
  expect(page(false, { ...idle, busy: true })).toContain('disabled=""');
  expect(page(false, idle)).not.toContain('disabled');
});
