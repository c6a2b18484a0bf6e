/** Filter chips: an unset one opens its choices, a set one reads as a sentence and is removed by a click. */
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { useWords } from '../i18n/words.ts';
import { Icon } from './icon.tsx';
import { common } from './words.ts';

interface ChipProps {
  label: string;
  value: string | undefined;
  /** How the value reads; the value itself without it. */
  shown?: ReactNode;
  /** Without choices the value is typed. */
  options?: readonly (readonly [value: string, text: string])[];
  onChange: (value: string | undefined) => void;
}

export function Chips({ children }: { children: ReactNode }) {
  const t = useWords(common);
  return (
    <fieldset className="chips" aria-label={t('filters')}>
      {children}
    </fieldset>
  );
}

export function Chip({ label, value, shown, options, onChange }: ChipProps) {
  const t = useWords(common);
  const id = useId();
  if (value !== undefined) {
    return (
      <button className="chip" data-set="" type="button" onClick={() => onChange(undefined)}>
        {label} <b>{shown ?? value}</b> <Icon name="close" />
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
        {options ? (
          options.map(([option, text]) => (
            <button key={option} type="button" onClick={() => choose(option)}>
              {text}
            </button>
          ))
        ) : (
          <Typed label={label} onChange={choose} />
        )}
      </div>
    </>
  );
}

function Typed({ label, onChange }: { label: string; onChange: (value: string) => void }) {
  const t = useWords(common);
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
