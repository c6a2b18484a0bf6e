/** What the pages before the console share: sign-in, registration, first run. */
import type { ReactNode } from 'react';
import { Field } from './form.tsx';
import { FormError } from './form-error.tsx';
import { Mark } from './icon.tsx';
import type { Saving } from './use-saving.ts';
import { useTitle } from './use-title.ts';

export function Brand() {
  return (
    <span className="brand" style={{ padding: 0 }}>
      <Mark />
      Modelport
    </span>
  );
}

export function GateBox({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  useTitle(title);
  return (
    <div className="box">
      <div>
        <h1>{title}</h1>
        <p className="dim" style={{ marginBlockStart: '.25rem' }}>
          {text}
        </p>
      </div>
      {children}
    </div>
  );
}

interface FormProps {
  saving: Saving;
  onSubmit: () => Promise<unknown>;
  label: string;
  /** False beside a better way to sign in. */
  isMain?: boolean;
  children: ReactNode;
}

/** A form with one wide button. */
export function GateForm({ saving, onSubmit, label, isMain = true, children }: FormProps) {
  return (
    <form className="form" onSubmit={saving.submit(onSubmit)}>
      {children}
      <FormError error={saving.error} isOnce />
      <button className={isMain ? 'btn go big wide' : 'btn big wide'} type="submit" disabled={saving.busy}>
        {label}
      </button>
    </form>
  );
}

interface NewPasswordProps {
  label: string;
  hint: string;
  value: string;
  onText: (text: string) => void;
}

/** The server asks for at least 12 characters. */
export function NewPassword(field: NewPasswordProps) {
  return <Field {...field} type="password" autoComplete="new-password" minLength={12} required />;
}
