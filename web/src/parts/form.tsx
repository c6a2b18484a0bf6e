/** Form fields: label above, hint below; an error takes the hint's place. */
import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, useId } from 'react';
import { Icon } from './icon.tsx';

interface Around {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
}

export function Field({ label, hint, error, ...input }: Around & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  const said = error ?? hint;
  return (
    <div className="f">
      <label htmlFor={id}>{label}</label>
      <input
        className="in1"
        id={id}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={said ? `${id}-hint` : undefined}
        {...input}
      />
      <Hint id={id} hint={hint} error={error} />
    </div>
  );
}

export function Area({
  label,
  hint,
  error,
  ...input
}: Around & InputHTMLAttributes<HTMLTextAreaElement> & { rows?: number }) {
  const id = useId();
  return (
    <div className="f">
      <label htmlFor={id}>{label}</label>
      <textarea className="in1" id={id} aria-invalid={error !== undefined || undefined} {...input} />
      <Hint id={id} hint={hint} error={error} />
    </div>
  );
}

export function Select({ label, hint, error, children, ...input }: Around & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId();
  return (
    <div className="f">
      <label htmlFor={id}>{label}</label>
      <span className="sel">
        <select className="in1" id={id} {...input}>
          {children}
        </select>
        <Icon name="down" />
      </span>
      <Hint id={id} hint={hint} error={error} />
    </div>
  );
}

function Hint({ id, hint, error }: { id: string; hint?: ReactNode; error?: string | undefined }) {
  const said = error ?? hint;
  if (!said) return null;
  return (
    <span className="hint" id={`${id}-hint`} style={error ? { color: 'var(--bad)' } : undefined}>
      {said}
    </span>
  );
}
