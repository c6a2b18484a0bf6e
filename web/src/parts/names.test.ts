import { expect, test } from 'bun:test';
import { fill } from '../i18n/words.ts';
import { isSameName } from './same-name.ts';

test.each([
  ['  lead and trail  ', 'lead and trail'],
  ['two  spaces', 'two spaces'],
  ['line\nbreak and\u0007bell', 'line break and bell'],
  ['\u202egnirts lanoitceridib', 'gnirts lanoitceridib'],
  ['Zoe\u0308', 'Zo\u00eb'],
  ['👩‍👩‍👧‍👦 family', '👩‍👩‍👧‍👦 family'],
])('what is seen of %j can be typed to confirm it', (name, typed) => {
  expect(isSameName(typed, name)).toBe(true);
  expect(isSameName(`${typed}x`, name)).toBe(false);
  expect(isSameName('', name)).toBe(false);
});

test('a name does not turn the words around it', () => {
  expect(fill('Type {name} to confirm', { name: '\u202etxet' })).toBe('Type txet to confirm');
  expect(fill('Delete {name}?', { name: '\u2069\u202eשלום' })).toBe('Delete \u2068שלום\u2069?');
  expect(fill('{n} of {name}', { n: 3, name: '<b>' })).toBe('3 of <b>');
});
