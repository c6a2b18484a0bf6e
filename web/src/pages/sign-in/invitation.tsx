import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/client.ts';
import type { Named, Person } from '../../api/session.ts';
import { useWords } from '../../i18n/words.ts';
import { Field } from '../../parts/form.tsx';
import { FormError, Loaded } from '../../parts/states.tsx';
import { words } from './words.ts';

interface Invitation {
  email: string | null;
  name: string | null;
  role: Person['role'];
  account: Named | null;
  expiresAt: string;
}

interface Props {
  token: string;
  onDone: () => void;
  onLeave: () => void;
}

export function InvitationForm({ token, onDone, onLeave }: Props) {
  const t = useWords(words);
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => ask<Invitation>('/console/api/invitation', { method: 'POST', body: { token } }),
    retry: false,
  });
  return (
    <div className="box">
      <h1>{t('inviteTitle')}</h1>
      {invitation.error ? (
        <>
          <FormError error={new Error(t('linkFailed'))} />
          <button type="button" className="btn big wide" onClick={onLeave}>
            {t('title')}
          </button>
        </>
      ) : (
        <Loaded of={invitation} bones={3}>
          {(data) => <Accept token={token} invitation={data} onDone={onDone} />}
        </Loaded>
      )}
    </div>
  );
}

function Accept({ token, invitation, onDone }: { token: string; invitation: Invitation; onDone: () => void }) {
  const t = useWords(words);
  const [name, setName] = useState(invitation.name ?? '');
  const [email, setEmail] = useState(invitation.email ?? '');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const body = { token, name, ...(email && { email }), ...(password && { password }) };
      await ask('/console/api/invitation/accept', { method: 'POST', body });
      onDone();
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <form className="form" onSubmit={submit}>
      <p className="dim">
        {t('inviteText', { role: t(invitation.role) })} {invitation.account?.name}
      </p>
      <Field
        label={t('name')}
        required
        autoComplete="name"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Field
        label={t('email')}
        type="email"
        required
        autoComplete="username"
        readOnly={invitation.email !== null}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <Field
        label={t('newPassword')}
        hint={t('newPasswordHint')}
        type="password"
        autoComplete="new-password"
        minLength={12}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      <FormError error={error} />
      <button type="submit" className="btn go big wide">
        {t('join')}
      </button>
    </form>
  );
}
