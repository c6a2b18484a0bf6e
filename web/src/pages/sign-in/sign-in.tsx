/** Sign-in: passkey, company sign-in, password with an optional code, one-time link. */
import { useEffect, useState } from 'react';
import { ask } from '../../api/client.ts';
import type { Ways } from '../../api/session.ts';
import { useWords } from '../../i18n/words.ts';
import { Note } from '../../parts/basic.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { Brand, GateBox } from '../../parts/gate.tsx';
import { Icon } from '../../parts/icon.tsx';
import { LanguageChoice } from '../../parts/language-choice.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import type { Fragment } from '../../shell/fragment.ts';
import { Example } from './example.tsx';
import { PasswordForm } from './password-form.tsx';
import { ConfirmBox, RegisterBox, RegisterLink } from './register.tsx';
import { words } from './words.ts';

interface Props {
  ways: Ways;
  fragment: Fragment;
  onDone: () => void;
}

export function SignInPage(props: Props) {
  return (
    <div className="gate">
      <main id="main">
        <GateHead />
        <Start {...props} />
        <GateFoot />
      </main>
      <Example />
    </div>
  );
}

function GateHead() {
  const t = useWords(words);
  return (
    <div style={{ display: 'flex', alignItems: 'center' }}>
      <Brand />
      <div style={{ marginInlineStart: 'auto' }}>
        <LanguageChoice label={t('language')} />
      </div>
    </div>
  );
}

function GateFoot() {
  const t = useWords(words);
  return (
    <p className="dimmer" style={{ font: 'var(--t-12)' }}>
      Modelport · {t('foot')}
    </p>
  );
}

/** Signing in, registering, or the end of a registration. */
function Start(props: Props) {
  const [isRegistering, setRegistering] = useState(false);
  const { fragment, onDone } = props;
  if (fragment.register !== undefined) return <ConfirmBox token={fragment.register} onDone={onDone} />;
  if (isRegistering) return <RegisterBox onBack={() => setRegistering(false)} />;
  return <Gate {...props} onRegister={() => setRegistering(true)} />;
}

function Gate({ ways, fragment, onDone: enter, onRegister }: Props & { onRegister: () => void }) {
  const t = useWords(words);
  const [note, setNote] = useState(fragment.error && t(ERRORS[fragment.error] ?? 'failed'));
  const [following, setFollowing] = useState(fragment.link !== undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a one-time link is used once
  useEffect(() => {
    if (fragment.link === undefined || used.has(fragment.link)) return;
    used.add(fragment.link);
    ask('/console/api/sign-in/link', { method: 'POST', body: { token: fragment.link } }).then(enter, () => {
      setNote(t('linkFailed'));
      setFollowing(false);
    });
  }, []);
  return (
    <GateBox title={t('title')} text={following ? t('signingIn') : t('to', { host: location.host })}>
      {note && <Note s="bad">{note}</Note>}
      <QuickWays ways={ways} onDone={enter} />
      {(ways.passkeys || ways.oidc) && ways.password && <div className="or">{t('or')}</div>}
      {ways.password && <PasswordForm onDone={enter} />}
      {ways.registration && <RegisterLink credit={ways.registrationCredit} onOpen={onRegister} />}
      <LockedOut />
    </GateBox>
  );
}

/** Why the provider's page led back without a sign-in. */
const ERRORS: { readonly [code: string]: 'unavailable' | 'notAllowed' | 'emailTaken' | 'lastOwner' | 'tooMany' } = {
  provider_unavailable: 'unavailable',
  not_allowed: 'notAllowed',
  email_taken: 'emailTaken',
  last_owner: 'lastOwner',
  rate_limited: 'tooMany',
};

/** React's strict mode runs effects twice in development. */
const used = new Set<string>();

function LockedOut() {
  const t = useWords(words);
  const [before, after] = t('locked', { command: '|' }).split('|');
  return (
    <p className="dimmer">
      {before}
      <code>modelport login-link</code>
      {after}
    </p>
  );
}

function QuickWays({ ways, onDone }: { ways: Ways; onDone: () => void }) {
  const t = useWords(words);
  const saving = useSaving();
  if (!ways.passkeys && !ways.oidc) return null;
  const takePasskey = async () => {
    const { signInWithPasskey } = await import('../../api/passkeys.ts');
    await signInWithPasskey();
    onDone();
  };
  return (
    <div className="form" style={{ gap: '.5rem' }}>
      {ways.passkeys && (
        <button className="btn go big wide" type="button" onClick={() => void saving.run(takePasskey)}>
          <Icon name="keys" />
          {t('passkey')}
        </button>
      )}
      {ways.oidc && (
        <a
          className="btn big wide"
          href={`/console/api/sign-in/oidc?to=${encodeURIComponent(location.pathname + location.search)}`}
        >
          {t('oidc', { name: ways.oidc.name })}
        </a>
      )}
      <FormError error={saving.error} />
    </div>
  );
}
