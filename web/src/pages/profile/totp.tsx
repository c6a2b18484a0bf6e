import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/client.ts';
import { SESSION, useSession } from '../../api/session.ts';
import { useWords } from '../../i18n/words.ts';
import { CopyButton, Panel, Status } from '../../parts/basic.tsx';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/states.tsx';
import { words } from './words.ts';

export function Totp() {
  const t = useWords(words);
  const client = useQueryClient();
  const { person } = useSession();
  const [secret, setSecret] = useState<{ secret: string; uri: string }>();
  const [recovery, setRecovery] = useState<readonly string[]>();
  const [code, setCode] = useState('');
  const [error, setError] = useState<unknown>();
  const run = async (act: () => Promise<unknown>) => {
    try {
      await act();
      setCode('');
      setError(undefined);
      await client.invalidateQueries({ queryKey: SESSION });
    } catch (reason) {
      setError(reason);
    }
  };
  const start = () => run(async () => setSecret(await ask('/console/api/totp', { method: 'POST', body: {} })));
  const confirm = () =>
    run(async () => {
      const { recoveryCodes } = await ask<{ recoveryCodes: string[] }>('/console/api/totp/confirm', {
        method: 'POST',
        body: { code },
      });
      setRecovery(recoveryCodes);
      setSecret(undefined);
    });
  const stop = () => run(() => ask('/console/api/totp', { method: 'DELETE', body: { code } }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void (secret ? confirm() : stop());
  };
  return (
    <Panel
      title={t('totp')}
      id="p-totp"
      beside={<Status s={person.hasTotp ? 'ok' : 'idle'}>{person.hasTotp ? t('totpOn') : t('totpOff')}</Status>}
    >
      <div className="in form">
        {!person.hasTotp && !secret && (
          <div>
            <button type="button" className="btn" onClick={() => void start()}>
              {t('totpStart')}
            </button>
          </div>
        )}
        {secret && (
          <>
            <p>{t('totpSecret')}</p>
            <div className="secret">
              <code>{secret.secret}</code>
              <CopyButton text={secret.secret} />
            </div>
          </>
        )}
        {(secret || person.hasTotp) && (
          <form className="form" onSubmit={submit}>
            <Field
              label={t('code')}
              inputMode="numeric"
              autoComplete="one-time-code"
              required
              value={code}
              onChange={(event) => setCode(event.target.value)}
            />
            <div>
              <button type="submit" className="btn">
                {secret ? t('confirm') : t('totpStop')}
              </button>
            </div>
          </form>
        )}
        {recovery && (
          <>
            <p>{t('recovery')}</p>
            <div className="secret">
              <code>{recovery.join(' ')}</code>
              <CopyButton text={recovery.join('\n')} />
            </div>
          </>
        )}
        <FormError error={error} />
      </div>
    </Panel>
  );
}
