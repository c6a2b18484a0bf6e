import { expect, test } from 'bun:test';
import { Glob } from 'bun';
import { chooseLanguage } from './language.ts';
import { dictionaries, dictionary, translate } from './words.ts';

const SOURCE = `${import.meta.dir}/..`;

/** Loads every file that has texts. */
async function loadAll(): Promise<void> {
  for await (const path of new Glob('**/*.{ts,tsx}').scan({ cwd: SOURCE })) {
    if (/\.test\.|\.d\.ts$|^i18n\//.test(path)) continue;
    const text = await Bun.file(`${SOURCE}/${path}`).text();
    if (text.includes('= dictionary({')) await import(`${SOURCE}/${path}`);
  }
}

const holesIn = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort();

test('every text has both languages with the same values', async () => {
  await loadAll();
  const entries = dictionaries.flatMap((entries) => Object.entries(entries));
  expect(entries.length).toBeGreaterThan(250);
  for (const [key, [en, zh, one]] of entries) {
    expect([key, en.trim() !== '' && zh.trim() !== '']).toEqual([key, true]);
    expect([key, holesIn(zh)]).toEqual([key, holesIn(en)]);
    if (one !== undefined) expect([key, holesIn(en).includes('{n}')]).toEqual([key, true]);
  }
});

test('a text that stands in English in the Chinese column is a name, not a forgotten translation', async () => {
  await loadAll();
  const same = dictionaries.flatMap((entries) => Object.entries(entries)).filter(([, [en, zh]]) => en === zh);
  expect(same.map(([key]) => key).sort()).toEqual(['confirmName', 'p95', 'prompt', 'slack', 'webhook']);
});

test('values fill the braces, and the singular is chosen by n', () => {
  const words = dictionary({ calls: ['{n} calls of {name}', '{name} 的 {n} 次调用', '{n} call of {name}'] });
  expect(translate(words, 'en')('calls', { n: 2, name: 'a' })).toBe('2 calls of a');
  expect(translate(words, 'en')('calls', { n: 1, name: '{n}' })).toBe('1 call of {n}');
  expect(translate(words, 'zh')('calls', { n: 1, name: 'a' })).toBe('a 的 1 次调用');
  dictionaries.pop();
});

test('the language follows the choice, then the browser', () => {
  expect(chooseLanguage('zh', ['en-GB'])).toBe('zh');
  expect(chooseLanguage(null, ['fr', 'zh-TW', 'en'])).toBe('zh');
  expect(chooseLanguage('xx', ['fr'])).toBe('en');
});
