/** The first-run page: opened by a one-time link, before there is a password or a passkey. Then the playground makes the first call. */
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ask } from '../../api/client.ts';
import { SESSION, useSession, type Ways } from '../../api/session.ts';
import { dictionary, useWords } from '../../i18n/words.ts';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { Brand, GateBox, GateForm, NewPassword } from '../../parts/gate.tsx';
import { Icon } from '../../parts/icon.tsx';
import { type Saving, useSaving } from '../../parts/use-saving.ts';

const words = dictionary({
  title: ['Welcome to Modelport', '欢迎使用 Modelport'],
  text: [
    'Choose how you sign in from now on. Then add a provider, or make your first call with the sandbox models, which need no key.',
    '请选择今后的登录方式。随后可添加渠道，或直接用无需密钥的沙箱模型发起第一次调用。',
  ],
  email: ['Email', '邮箱'],
  password: ['Password', '密码'],
  rule: ['At least 12 characters.', '至少 12 个字符。'],
  save: ['Set password and continue', '设置密码并继续'],
  or: ['or', '或'],
  later: ['Later', '稍后设置'],
  passkey: ['Add a passkey instead', '改用通行密钥'],
  onlyPasskey: ['Add a passkey', '添加通行密钥'],
});

export function StartPage({ onLater }: { onLater: () => void }) {
  const t = useWords(words);
  const client = useQueryClient();
  const { person, ways } = useSession();
  const [email, setEmail] = useState(person.email ?? '');
  const [password, setPassword] = useState('');
  const saving = useSaving();
  const finish = async (secure: () => Promise<unknown>) => {
    if (email !== '' && email !== person.email) await ask('/console/api/profile', { method: 'PATCH', body: { email } });
    await secure();
    history.replaceState(null, '', '/console/playground');
    await client.invalidateQueries({ queryKey: SESSION });
  };
  const setOwnPassword = () => ask('/console/api/password', { method: 'PUT', body: { password } });
  const takePasskey = async () => {
    const { addPasskey } = await import('../../api/passkeys.ts');
    await addPasskey(navigator.platform || 'Passkey');
  };
  return (
    <div className="gate">
      <main id="main">
        <Brand />
        <StartBox
          ways={ways}
          saving={saving}
          onPassword={() => finish(setOwnPassword)}
          onPasskey={() => finish(takePasskey)}
          onLater={onLater}
        >
          <Field label={t('email')} type="email" required autoComplete="username" value={email} onText={setEmail} />
          <NewPassword label={t('password')} hint={t('rule')} value={password} onText={setPassword} />
        </StartBox>
      </main>
    </div>
  );
}

interface BoxProps {
  ways: Pick<Ways, 'password' | 'passkeys'>;
  saving: Saving;
  onPassword: () => Promise<unknown>;
  onPasskey: () => Promise<unknown>;
  onLater: () => void;
  /** The fields of a password. */
  children: ReactNode;
}

/** The ways that are on, with what became of the one that was taken. */
export function StartBox({ ways, saving, onPassword, onPasskey, onLater, children }: BoxProps) {
  const t = useWords(words);
  return (
    <GateBox title={t('title')} text={t('text')}>
      {ways.password ? (
        <GateForm saving={saving} onSubmit={onPassword} label={t('save')}>
          {children}
        </GateForm>
      ) : (
        <FormError error={saving.error} />
      )}
      {ways.password && ways.passkeys && <div className="or">{t('or')}</div>}
      {ways.passkeys && (
        <button
          type="button"
          className={ways.password ? 'btn big wide' : 'btn go big wide'}
          disabled={saving.busy}
          onClick={() => void saving.run(onPasskey)}
        >
          <Icon name="keys" />
          {t(ways.password ? 'passkey' : 'onlyPasskey')}
        </button>
      )}
      <button type="button" className="btn plain wide" onClick={onLater}>
        {t('later')}
      </button>
    </GateBox>
  );
}
