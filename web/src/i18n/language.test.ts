import { afterAll, beforeEach, expect, test } from 'bun:test';
import { currentLanguage, hasShortcuts, setLanguage, setShortcuts, startAppearance, takeLanguage } from './language.ts';

const stored = new Map<string, string>();
const before = {
  localStorage: globalThis.localStorage,
  document: globalThis.document,
  navigator: globalThis.navigator,
};
const localStorage = {
  getItem: (name: string) => stored.get(name) ?? null,
  setItem: (name: string, value: string) => void stored.set(name, value),
};

beforeEach(() => {
  stored.clear();
  const define = (name: string, value: unknown) =>
    Object.defineProperty(globalThis, name, { value, configurable: true });
  define('localStorage', localStorage);
  define('document', { documentElement: { dataset: {} } });
  define('navigator', { languages: ['en-GB'], language: 'en-GB' });
  startAppearance();
});
afterAll(() => {
  for (const [name, value] of Object.entries(before))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
});

test('the language of the profile is taken in a browser where none was chosen', () => {
  expect(currentLanguage()).toBe('en');
  takeLanguage(null);
  expect(currentLanguage()).toBe('en');
  takeLanguage('zh');
  expect(currentLanguage()).toBe('zh');
  expect(stored.has('modelport-language')).toBe(false);
  setLanguage('en');
  takeLanguage('zh');
  expect(currentLanguage()).toBe('en');
});

test('single letters are commands until they are turned off', () => {
  expect(hasShortcuts()).toBe(true);
  setShortcuts(false);
  expect(hasShortcuts()).toBe(false);
  setShortcuts(true);
  expect(hasShortcuts()).toBe(true);
});
