/** A form's change: busy, done, or its error. */
import { type FormEvent, useState } from 'react';
import { useWords } from '../i18n/words.ts';
import { FormError } from './states.tsx';
import { common } from './words.ts';

export interface Saving {
  busy: boolean;
  saved: boolean;
  error: unknown;
  run: (act: () => Promise<unknown>) => Promise<void>;
  /** For `onSubmit`. */
  submit: (act: () => Promise<unknown>) => (event: FormEvent) => void;
  /** For `onChange`: what was saved is no longer what is shown. */
  touch: () => void;
}

export function useSaving(): Saving {
  const [busy, setBusy] = useState(false);
  const [saved, setSaved] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async (act: () => Promise<unknown>) => {
    setBusy(true);
    setError(undefined);
    try {
      await act();
      setSaved(true);
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  };
  const submit = (act: () => Promise<unknown>) => (event: FormEvent) => {
    event.preventDefault();
    void run(act);
  };
  return { busy, saved, error, run, submit, touch: () => setSaved(false) };
}

/** The button of a form with what became of it. */
export function SaveRow({ saving, label, disabled = false }: { saving: Saving; label?: string; disabled?: boolean }) {
  const t = useWords(common);
  return (
    <>
      <FormError error={saving.error} />
      <div className="row">
        <button type="submit" className="btn go" disabled={disabled || saving.busy}>
          {label ?? t('save')}
        </button>
        <span aria-live="polite" className="dim">
          {saving.saved && !saving.busy && t('saved')}
        </span>
      </div>
    </>
  );
}
