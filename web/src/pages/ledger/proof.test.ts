import { expect, test } from 'bun:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { translate } from '../../i18n/words.ts';
import { Outcome } from './proof.tsx';
import { words } from './words.ts';

const REPORT = { ok: true, accounts: 2, entries: 17, holds: 0, faults: [] as string[], notes: [] as string[] };
const NOTE = 'Calls of an older release in no sum by provider: 2.';
const HEAD = translate(words, 'en')('notes');

const page = (more: Partial<typeof REPORT>) =>
  renderToStaticMarkup(createElement(Outcome, { report: { ...REPORT, ...more } }));

test('the notes of a proof stand below its result, and are no faults', () => {
  const proved = page({ notes: [NOTE] });
  expect(proved).toMatch(new RegExp(`data-s="ok".*Proved: 17 entries.*${HEAD}.*<li>${NOTE}</li>`));
  expect(proved).not.toContain('data-s="bad"');
  const faulty = page({ ok: false, faults: ['A sum is wrong.'], notes: [NOTE] });
  expect(faulty).toMatch(new RegExp(`One fault.*<li>A sum is wrong.</li>.*${HEAD}.*<li>${NOTE}</li>`));
  expect(page({})).not.toContain(HEAD);
});
