import { expect, test } from 'bun:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { OptionsHead } from './options-head.tsx';

test('until the models are known, the button of the options has a name', () => {
  const nameWith = (model: string) => {
    const [button = ''] = renderToStaticMarkup(createElement(OptionsHead, { model, fields: null })).match(
      /<button.*?<\/button>/,
    ) as string[];
    return button.replace(/<[^>]*>/g, '').trim();
  };
  expect(nameWith('sandbox-chat')).toBe('sandbox-chat');
  expect(nameWith('')).toBe('Options');
});
