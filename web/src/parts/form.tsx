/** Form fields: label above, hint below; an error takes the hint's place. */

import type { TextareaHTMLAttributes } from 'react';
import { type ChangeEvent, type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, useId } from 'react';
import { Icon } from './icon.tsx';

interface Label {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
}

interface Around extends Label {
  /** Gets what was typed or chosen. */
  onText?: (text: string) => void;
}

const textHandler = (onText: Around['onText']) =>
  onText && { onChange: (event: ChangeEvent<{ value: string }>) => onText(event.target.value) };

export function Field({ label, hint, error, onText, ...input }: Around & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <input
        className="in1"
        id={id}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={(error ?? hint) ? `${id}-hint` : undefined}
        {...textHandler(onText)}
        {...input}
      />
    </Labelled>
  );
}

export function Area({ label, hint, error, onText, ...input }: Around & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <textarea
        className="in1"
        id={id}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={(error ?? hint) ? `${id}-hint` : undefined}
        {...textHandler(onText)}
        {...input}
      />
    </Labelled>
  );
}

export function Select(props: Around & SelectHTMLAttributes<HTMLSelectElement>) {
  const { label, hint, error, onText, children, ...input } = props;
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <span className="sel">
        <select
          className="in1"
          id={id}
          aria-describedby={(error ?? hint) ? `${id}-hint` : undefined}
          {...textHandler(onText)}
          {...input}
        >
          {children}
        </select>
        <Icon name="down" />
      </span>
    </Labelled>
  );
}

function Labelled({ id, label, hint, error, children }: Label & { id: string; children: ReactNode }) {
  const text = error ?? hint;
  return (
    <div className="f">
      <label htmlFor={id}>{label}</label>
      {children}
      {text && (
        <span className="hint" id={`${id}-hint`} style={error ? { color: 'var(--bad)' } : undefined}>
          {text}
        </span>
      )}
    </div>
  );
}
