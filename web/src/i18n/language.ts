/** The language and the theme of this browser. Both are kept in localStorage; without a choice they follow the browser. */
export type Language = 'en' | 'zh';
export type Theme = 'system' | 'light' | 'dark';

const LANGUAGE = 'modelport-language';
const THEME = 'modelport-theme';
const SHORTCUTS = 'modelport-shortcuts';

const listeners = new Set<() => void>();
let language: Language = 'en';

export const currentLanguage = (): Language => language;

/** The tag for `lang` and for Intl. English follows the browser's variant, so that dates look as the reader expects. */
export function localeOf(language: Language): string {
  if (language === 'zh') return 'zh-CN';
  const own = globalThis.navigator?.language;
  return own?.startsWith('en') ? own : 'en-US';
}

export function chooseLanguage(stored: string | null, wanted: readonly string[]): Language {
  if (stored === 'en' || stored === 'zh') return stored;
  const known = wanted.find((tag) => /^(en|zh)\b/.test(tag));
  return known?.startsWith('zh') ? 'zh' : 'en';
}

export function onLanguageChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What the person chooses is kept in this browser. */
export function setLanguage(next: Language): void {
  write(LANGUAGE, next);
  show(next);
}

function show(next: Language): void {
  language = next;
  document.documentElement.lang = next === 'zh' ? 'zh-CN' : 'en';
  for (const listener of listeners) listener();
}

export function currentTheme(): Theme {
  const stored = read(THEME);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function setTheme(theme: Theme): void {
  write(THEME, theme);
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Whether single letters are commands: who speaks to the computer, or types by chance, can turn them off. */
export const hasShortcuts = (): boolean => read(SHORTCUTS) !== 'off';

export const setShortcuts = (isOn: boolean): void => write(SHORTCUTS, isOn ? 'on' : 'off');

/** The language of somebody's profile, unless another one was chosen in this browser. */
export function takeLanguage(own: Language | null): void {
  if (own !== null && own !== language && read(LANGUAGE) === null) show(own);
}

/** Called once, before the first render. */
export function startAppearance(): void {
  show(chooseLanguage(read(LANGUAGE), navigator.languages));
  setTheme(currentTheme());
}

/** Storage is refused in some private windows; then the choice lasts as long as the page. */
function read(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {}
}
