/** Signing in by e-mail address and password. */
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { useWords } from '../../i18n/words.ts';
import { CodeField, PasswordField } from '../../parts/fields.tsx';
import { Field } from '../../parts/form.tsx';
import { GateForm } from '../../parts/gate.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { words } from './words.ts';

type Answer = { signedIn: true } | { signedIn: false; needs: string };

export function PasswordForm({ onDone }: { onDone: () => void }) {
  const t = useWords(words);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState<string>();
  const saving = useSaving();
  const signIn = async () => {
    const body = { email, password, ...(code && { code }) };
    const answer = await ask<Answer>('/console/api/sign-in', { method: 'POST', body });
    if (answer.signedIn) onDone();
    else if (answer.needs === 'code') setCode('');
  };
  return (
    <GateForm saving={saving} onSubmit={signIn} label={t('submit')} isMain={false}>
      <Field
        label={t('email')}
        type="email"
        autoComplete="username webauthn"
        required
        value={email}
        onText={setEmail}
      />
      <PasswordField label={t('password')} required value={password} onText={setPassword} />
      {code !== undefined && (
        <CodeField label={t('code')} hint={t('codeHint')} autoFocus value={code} onText={setCode} />
      )}
    </GateForm>
  );
}
