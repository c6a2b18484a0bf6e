/** The choice of the language. */
import { type Language, setLanguage } from '../i18n/language.ts';
import { useLanguage } from '../i18n/words.ts';
import { Segments } from './basic.tsx';

/** English or Chinese. `onChange` is called after the console has changed. */
export function LanguageChoice({ label, onChange }: { label: string; onChange?: (language: Language) => void }) {
  const language = useLanguage();
  const choose = (next: Language) => {
    setLanguage(next);
    onChange?.(next);
  };
  const options = [
    ['en', 'English'],
    ['zh', '中文'],
  ] as const;
  return <Segments<Language> label={label} value={language} options={options} onChange={choose} />;
}
