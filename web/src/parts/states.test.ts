import { expect, test } from 'bun:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { ApiError, OfflineError } from '../api/client.ts';
import { FormError } from './form-error.tsx';
import { Loaded } from './states.tsx';

const textOf = (error: unknown, isOnce = false) => renderToStaticMarkup(createElement(FormError, { error, isOnce }));

test('a form says what a lost answer means', () => {
  const lost = new OfflineError({ isChange: true });
  expect(textOf(lost)).toContain('this may have been done');
  expect(textOf(lost, true)).toContain('it is not done twice');
  expect(textOf(new OfflineError())).toContain('You are offline.');
  expect(textOf(new OfflineError({ isLate: true }))).toContain('does not answer');
});

test('a session that ended does not ask for an API key', () => {
  const message = 'No API key was given: send it as "Authorization: Bearer sk-…".';
  const text = textOf(new ApiError(401, 'invalid_api_key', message));
  expect(text).not.toContain('API key');
  expect(text).toContain('What you typed stays here');
  expect(text).toContain('target="_blank"');
  expect(textOf(new ApiError(401, 'sign_in_failed', 'Signing in failed.'))).toContain('Signing in failed.');
});

test('old figures say that they could not be read again', () => {
  const shown = (error: Error | null) =>
    renderToStaticMarkup(
      createElement(Loaded<string>, {
        of: { data: 'FIGURES', error, dataUpdatedAt: 0, refetch: async () => {} } as never,
        ...{ children: (data: string) => data },
      }),
    );
  expect(shown(null)).toBe('FIGURES');
  expect(shown(new ApiError(500, '', 'The database does not answer.'))).toContain('The database does not answer.');
  expect(shown(new OfflineError())).toContain('You are offline.');
  expect(shown(new ApiError(500, '', 'x'))).toContain('FIGURES');
});
