/** Filter chips: an unset one opens its choices, a set one reads as a sentence and is removed by a click. */
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import type { Named } from '../api/session.ts';
import { dictionary, useWords } from '../i18n/words.ts';
import { type Choice, found, SEARCHED_FROM, taken } from './choices.ts';
import { SearchField } from './fields.tsx';
import { Icon } from './icon.tsx';
import { common } from './words.ts';

const words = dictionary({
  clearOne: ['Remove filter', '移除筛选'],
  filters: ['Filters', '筛选'],
  add: ['Add', '添加'],
  none: ['Nothing has this name. Enter takes it as an id.', '没有匹配项。按回车将其作为 ID 使用。'],
});

interface ChipProps {
  label: string;
  value: string | undefined;
  /** How the value reads; without it, the text of its choice or the value itself. */
  shown?: ReactNode;
  /** Without choices the value is typed. */
  options?: readonly Choice[];
  onChange: (value: string | undefined) => void;
}

export function Chips({ children }: { children: ReactNode }) {
  const t = useWords(words);
  return (
    <fieldset className="chips" aria-label={t('filters')}>
      {children}
    </fieldset>
  );
}

export function Chip({ label, value, shown, options, onChange }: ChipProps) {
  const t = useWords(words);
  const id = useId();
  if (value !== undefined) {
    return (
      <button className="chip" data-set="" type="button" onClick={() => onChange(undefined)}>
        {label} <b>{shown ?? options?.find(([option]) => option === value)?.[1] ?? value}</b> <Icon name="close" />
        <span className="off">{t('clearOne')}</span>
      </button>
    );
  }
  const close = () => document.getElementById(id)?.hidePopover();
  const choose = (next: string) => {
    close();
    onChange(next);
  };
  return (
    <>
      <button className="chip" type="button" popoverTarget={id} aria-haspopup="dialog">
        <Icon name="plus" /> {label}
      </button>
      <div className="pop" id={id} popover="auto" role="dialog" aria-label={label}>
        {options && options.length > SEARCHED_FROM ? (
          <Searched label={label} options={options} onChoose={choose} />
        ) : options ? (
          <Choices of={options} onChoose={choose} />
        ) : (
          <Typed label={label} onChange={choose} />
        )}
      </div>
    </>
  );
}

function Choices({ of, onChoose }: { of: readonly Choice[]; onChoose: (value: string) => void }) {
  return of.map(([option, text]) => (
    <button key={option} type="button" onClick={() => onChoose(option)}>
      {text}
    </button>
  ));
}

interface SearchedProps {
  label: string;
  options: readonly Choice[];
  onChoose: (value: string) => void;
}

function Searched({ label, options, onChoose }: SearchedProps) {
  const t = useWords(words);
  const c = useWords(common);
  const [typed, setTyped] = useState('');
  const { shown, more } = found(options, typed);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const value = typed.trim() === '' ? undefined : taken(options, typed);
    if (value !== undefined) onChoose(value);
  };
  return (
    <>
      <form onSubmit={submit}>
        <SearchField label={c('searchIn', { label })} value={typed} onText={setTyped} />
      </form>
      <Choices of={shown} onChoose={onChoose} />
      <p className="dimmer" role="status">
        {shown.length === 0 ? t('none') : more > 0 && c('moreChoices', { n: more })}
      </p>
    </>
  );
}

/** A chip whose choices are known by their names: accounts, keys. */
export function NamedChip({ of, ...chip }: Omit<ChipProps, 'options'> & { of: readonly Named[] }) {
  return <Chip {...chip} options={of.map(({ id, name }) => [id, name])} />;
}

function Typed({ label, onChange }: { label: string; onChange: (value: string) => void }) {
  const t = useWords(words);
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== '') onChange(text.trim());
  };
  return (
    <form className="with" onSubmit={submit}>
      <input className="in1" aria-label={label} value={text} onChange={(event) => setText(event.target.value)} />
      <button className="btn" type="submit">
        {t('add')}
      </button>
    </form>
  );
}
