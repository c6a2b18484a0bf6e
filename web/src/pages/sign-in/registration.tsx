import { type FormEvent, useState } from 'react';
import { ask } from '../../api/client.ts';
import type { Ways } from '../../api/session.ts';
import { exactMoney } from '../../format/money.ts';
import { useWords } from '../../i18n/words.ts';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/states.tsx';
import { words } from './words.ts';

export function RegistrationForm({ ways, onDone, onLeave }: { ways: Ways; onDone: () => void; onLeave: () => void }) {
  const t = useWords(words);
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await ask('/console/api/register', { method: 'POST', body: { email, name, password } });
      onDone();
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <div className="box">
      <div>
        <h1>{t('register')}</h1>
        {ways.registrationCredit && (
          <p className="dim">{t('registerText', { amount: exactMoney(ways.registrationCredit) })}</p>
        )}
      </div>
      <form className="form" onSubmit={submit}>
        <Field
          label={t('email')}
          type="email"
          required
          autoComplete="username"
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <Field
          label={t('name')}
          required
          autoComplete="name"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Field
          label={t('newPassword')}
          hint={t('passwordRule')}
          type="password"
          required
          minLength={12}
          autoComplete="new-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <FormError error={error} />
        <button type="submit" className="btn go big wide">
          {t('register')}
        </button>
        <button type="button" className="btn big wide" onClick={onLeave}>
          {t('haveOne')}
        </button>
      </form>
    </div>
  );
}
