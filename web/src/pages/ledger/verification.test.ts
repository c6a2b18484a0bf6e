import { expect, test } from 'bun:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { translate } from '../../i18n/words.ts';
import { Outcome } from './verification.tsx';
import { words } from './words.ts';

const REPORT = { ok: true, accounts: 2, entries: 17, holds: 0, faults: [] as string[], notes: [] as string[] };
const NOTE = 'Calls of an older release in no sum by provider: 2.';
const HEAD = translate(words, 'en')('notes');

const page = (more: Partial<typeof REPORT>) =>
  renderToStaticMarkup(createElement(Outcome, { report: { ...REPORT, ...more } }));

test('the notes of a verification stand below its result, and are no faults', () => {
  const verified = page({ notes: [NOTE] });
  expect(verified).toMatch(new RegExp(`data-s="ok".*Verified: 17 entries.*${HEAD}.*<li>${NOTE}</li>`));
  expect(verified).not.toContain('data-s="bad"');
  const faulty = page({ ok: false, faults: ['A sum is wrong.'], notes: [NOTE] });
  expect(faulty).toMatch(new RegExp(`One fault.*<li>A sum is wrong.</li>.*${HEAD}.*<li>${NOTE}</li>`));
  expect(page({})).not.toContain(HEAD);
});
