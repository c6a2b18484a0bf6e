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
  onText?: ((text: string) => void) | undefined;
}

/** The attributes of a control, which tie it to its label, hint and error. */
function useControl({ hint, error, onText }: Omit<Around, 'label'>) {
  const id = useId();
  return {
    className: 'in1',
    id,
    'aria-invalid': error !== undefined || undefined,
    'aria-describedby': (error ?? hint) ? `${id}-hint` : undefined,
    ...(onText && { onChange: (event: ChangeEvent<{ value: string }>) => onText(event.target.value) }),
  };
}

export function Field({ label, hint, error, onText, ...input }: Around & InputHTMLAttributes<HTMLInputElement>) {
  const control = useControl({ hint, error, onText });
  return (
    <Labelled id={control.id} label={label} hint={hint} error={error}>
      <input {...control} {...input} />
    </Labelled>
  );
}

export function Area({ label, hint, error, onText, ...input }: Around & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const control = useControl({ hint, error, onText });
  return (
    <Labelled id={control.id} label={label} hint={hint} error={error}>
      <textarea {...control} {...input} />
    </Labelled>
  );
}

export function Select(props: Around & SelectHTMLAttributes<HTMLSelectElement>) {
  const { label, hint, error, onText, children, ...input } = props;
  const control = useControl({ hint, error, onText });
  return (
    <Labelled id={control.id} label={label} hint={hint} error={error}>
      <span className="sel">
        <select {...control} {...input}>
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
