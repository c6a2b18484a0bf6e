import { type FormEvent, useState } from 'react';
import { ask } from '../../api/client.ts';
import { useWords } from '../../i18n/words.ts';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/states.tsx';
import { words } from './words.ts';

type Answer = { signedIn: true } | { signedIn: false; needs: string };

export function PasswordForm({ onDone }: { onDone: () => void }) {
  const t = useWords(words);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState<string>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const body = { email, password, ...(code && { code }) };
      const answer = await ask<Answer>('/console/api/sign-in', { method: 'POST', body });
      if (answer.signedIn) return onDone();
      if (answer.needs === 'code') setCode('');
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="form" onSubmit={submit}>
      <Field
        label={t('email')}
        type="email"
        autoComplete="username webauthn"
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <Field
        label={t('password')}
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      {code !== undefined && (
        <Field
          label={t('code')}
          hint={t('codeHint')}
          autoComplete="one-time-code"
          inputMode="numeric"
          required
          autoFocus
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
      )}
      <FormError error={error} />
      <button className="btn big wide" type="submit" disabled={busy}>
        {t('submit')}
      </button>
    </form>
  );
}
