/** A form's change: busy, done, or its error. */
import { type FormEvent, useRef, useState } from 'react';

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
  const isRunning = useRef(false);
  const run = async (act: () => Promise<unknown>) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setSaved(false);
    setError(undefined);
    try {
      await act();
      setSaved(true);
    } catch (reason) {
      setError(reason);
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  };
  const submit = (act: () => Promise<unknown>) => (event: FormEvent) => {
    event.preventDefault();
    void run(act);
  };
  return { busy, saved, error, run, submit, touch: () => setSaved(false) };
}
