/**
 * Typed texts in two languages. Each page keeps its own list beside it, both languages on one line:
 *
 *   const words = dictionary({ title: ['Calls', '使用日志'], left: ['{n} left', '剩余 {n}'] });
 *   const t = useWords(words);
 *   t('left', { n: 3 })
 *
 * A text without its translation, an unknown key and a forgotten value are errors of the type checker; words.test.ts compares the values
 * in braces of both languages. A third text is the English singular, chosen by `n`: ['{n} calls', '{n} 次调用', '{n} call'].
 */
import { useSyncExternalStore } from 'react';
import { isolated } from '../parts/names.ts';
import { currentLanguage, type Language, onLanguageChange } from './language.ts';

type Entry = readonly [en: string, zh: string, one?: string];
type Entries = { readonly [key: string]: Entry };

/** `'n' | 'name'` of `'{n} calls of {name}'`. */
type Holes<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Holes<Rest> : never;
type Values<E extends Entry> = { readonly [Name in Holes<E[0]>]: string | number };
type Arguments<E extends Entry> = [Holes<E[0]>] extends [never] ? [] : [values: Values<E>];

export type Translate<D extends Entries> = <K extends keyof D & string>(key: K, ...values: Arguments<D[K]>) => string;

/** Every list of texts that was loaded, for the test that compares the languages. */
export const dictionaries: Entries[] = [];

export function dictionary<const D extends Entries>(entries: D): D {
  dictionaries.push(entries);
  return entries;
}

export function fill(text: string, values: { readonly [name: string]: string | number } = {}): string {
  return text.replace(/\{(\w+)\}/g, (hole, name: string) => isolated(String(values[name] ?? hole)));
}

export function translate<D extends Entries>(entries: D, language: Language): Translate<D> {
  return (key, ...[values]) => {
    const [en, zh, one] = entries[key] as Entry;
    const given = values as { readonly [name: string]: string | number } | undefined;
    const english = one !== undefined && String(given?.n) === '1' ? one : en;
    return fill(language === 'zh' ? zh : english, given);
  };
}

export function useLanguage(): Language {
  return useSyncExternalStore(onLanguageChange, currentLanguage, currentLanguage);
}

export function useWords<D extends Entries>(entries: D): Translate<D> {
  return translate(entries, useLanguage());
}
