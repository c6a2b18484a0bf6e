/** Fields for one purpose: a one-time code, the choice of an account, the search of a page's head. */
import { useState } from 'react';
import type { Named } from '../api/session.ts';
import { useWords } from '../i18n/words.ts';
import { found, SEARCHED_FROM } from './choices.ts';
import { Field, Select } from './form.tsx';
import { common } from './words.ts';

/** The code of an authenticator application, or a recovery code. */
export function CodeField(field: Parameters<typeof Field>[0]) {
  return <Field inputMode="numeric" autoComplete="one-time-code" required {...field} />;
}

/** The password that a person has; password managers fill it in. */
export function PasswordField(field: Parameters<typeof Field>[0]) {
  return <Field type="password" autoComplete="current-password" {...field} />;
}

/** A choice of things that are known by their names: accounts, models. Many are searched. */
export function NamedSelect({ of, ...select }: Parameters<typeof Select>[0] & { of: readonly Named[] }) {
  const t = useWords(common);
  const [typed, setTyped] = useState('');
  const choices = of.map(({ id, name }) => [id, name] as const);
  const isLong = choices.length > SEARCHED_FROM;
  const { shown, more } = isLong ? found(choices, typed) : { shown: choices, more: 0 };
  // The chosen one stays, wherever it stands.
  const chosen = choices.find(([id]) => id === select.value);
  const all = chosen === undefined || shown.includes(chosen) ? shown : [chosen, ...shown];
  const hint = more > 0 ? [select.hint, t('moreChoices', { n: more })] : select.hint;
  return (
    <>
      {isLong && <SearchField label={t('searchIn', { label: select.label })} value={typed} onText={setTyped} />}
      <Select {...select} hint={hint}>
        {all.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
    </>
  );
}

/** A field without a visible label, such as the search of a page's head. */
export function SearchField({
  label,
  value,
  onText,
}: {
  label: string;
  value: string;
  onText: (text: string) => void;
}) {
  return (
    <input
      className="in1"
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      onChange={(event) => onText(event.target.value)}
    />
  );
}
