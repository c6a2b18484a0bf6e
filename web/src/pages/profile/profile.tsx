/** The own profile: appearance, password, passkeys, codes, sessions. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { SESSION, useSession } from '../../api/session.ts';
import { currentTheme, hasShortcuts, type Language, setShortcuts, setTheme, type Theme } from '../../i18n/language.ts';
import { useWords } from '../../i18n/words.ts';
import { Head, Panel, Segments } from '../../parts/basic.tsx';
import { PasswordField } from '../../parts/fields.tsx';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { NewPassword } from '../../parts/gate.tsx';
import { LanguageChoice } from '../../parts/language-choice.tsx';
import { MoreIcon } from '../../parts/more-icons.tsx';
import { SaveRow } from '../../parts/save-row.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import { Passkeys } from './passkeys.tsx';
import { Sessions } from './sessions.tsx';
import { Totp } from './totp.tsx';
import { words } from './words.ts';

export function ProfilePage() {
  const t = useWords(words);
  const { ways } = useSession();
  const leaving = useSaving();
  const signOut = async () => {
    await ask('/console/api/sign-out', { method: 'POST', body: {} });
    // The next document has nothing of this one in its memory.
    location.assign('/console/');
  };
  return (
    <main className="page narrow" id="main">
      <Head title={t('title')}>
        <button type="button" className="btn" disabled={leaving.busy} onClick={() => void leaving.run(signOut)}>
          <MoreIcon name="out" />
          {t('signOut')}
        </button>
      </Head>
      <FormError error={leaving.error} isOnce />
      <Appearance />
      <You />
      {ways.password && <Password />}
      {ways.passkeys && <Passkeys />}
      {ways.password && <Totp />}
      <Sessions />
    </main>
  );
}

function Appearance() {
  const t = useWords(words);
  const save = (language: Language) =>
    void ask('/console/api/profile', { method: 'PATCH', body: { language } }).catch(() => {});
  const [theme, choose] = useState<Theme>(currentTheme);
  const [shortcuts, setOn] = useState(hasShortcuts);
  return (
    <Panel title={t('look')} id="p-look">
      <div className="in row">
        <LanguageChoice label={t('language')} onChange={save} />
        <Segments<Theme>
          label={t('theme')}
          value={theme}
          options={[
            ['system', t('system')],
            ['light', t('light')],
            ['dark', t('dark')],
          ]}
          onChange={(next) => {
            setTheme(next);
            choose(next);
          }}
        />
        <Segments<'on' | 'off'>
          label={t('shortcuts')}
          value={shortcuts ? 'on' : 'off'}
          options={[
            ['on', t('shortcutsOn')],
            ['off', t('shortcutsOff')],
          ]}
          onChange={(next) => {
            setShortcuts(next === 'on');
            setOn(next === 'on');
          }}
        />
      </div>
    </Panel>
  );
}

function You() {
  const t = useWords(words);
  const c = useWords(common);
  const client = useQueryClient();
  const { person } = useSession();
  const [name, setName] = useState(person.name);
  const [email, setEmail] = useState(person.email ?? '');
  const saving = useSaving();
  const save = async () => {
    await ask('/console/api/profile', { method: 'PATCH', body: { name, ...(email !== '' && { email }) } });
    await client.invalidateQueries({ queryKey: SESSION });
  };
  return (
    <Panel title={t('you')} id="p-you">
      <form className="in form" onSubmit={saving.submit(save)} onChange={saving.touch}>
        <div className="two">
          <Field label={c('name')} required autoComplete="name" value={name} onText={setName} />
          <Field label={t('email')} type="email" autoComplete="email" value={email} onText={setEmail} />
        </div>
        <SaveRow saving={saving} isMain={false} />
      </form>
    </Panel>
  );
}

function Password() {
  const t = useWords(words);
  const client = useQueryClient();
  const me = useSession();
  const { person } = me;
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const saving = useSaving();
  const save = async () => {
    const { showPresence } = await import('../../api/passkeys.ts');
    const presence = await showPresence(me, current);
    await ask('/console/api/password', { method: 'PUT', body: { password: next, ...presence } });
    await client.invalidateQueries({ queryKey: SESSION });
    setCurrent('');
    setNext('');
  };
  return (
    <Panel title={t('password')} id="p-password">
      <form className="in form" onSubmit={saving.submit(save)} onChange={saving.touch}>
        <input type="hidden" autoComplete="username" value={person.email ?? ''} readOnly />
        <div className="two">
          {person.hasPassword && (
            <PasswordField label={t('current')} required={person.passkeys === 0} value={current} onText={setCurrent} />
          )}
          <NewPassword label={t('next')} hint={t('rule')} value={next} onText={setNext} />
        </div>
        <SaveRow saving={saving} label={person.hasPassword ? t('change') : t('set')} isMain={false} />
      </form>
    </Panel>
  );
}
