/** Setting up and removing an authenticator app. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { SESSION, useSession } from '../../api/session.ts';
import { useWords } from '../../i18n/words.ts';
import { Panel, Status } from '../../parts/basic.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { CodeField } from '../../parts/fields.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { words } from './words.ts';

export function Totp() {
  const t = useWords(words);
  const client = useQueryClient();
  const { person } = useSession();
  const [secret, setSecret] = useState<{ secret: string; uri: string }>();
  const [recovery, setRecovery] = useState<readonly string[]>();
  const [code, setCode] = useState('');
  const saving = useSaving();
  const change = async (act: () => Promise<unknown>) => {
    await act();
    setCode('');
    await client.invalidateQueries({ queryKey: SESSION });
  };
  const start = async () => setSecret(await ask('/console/api/totp', { method: 'POST', body: {} }));
  const confirm = async () => {
    const path = '/console/api/totp/confirm';
    const { recoveryCodes } = await ask<{ recoveryCodes: string[] }>(path, { method: 'POST', body: { code } });
    setRecovery(recoveryCodes);
    setSecret(undefined);
  };
  const stop = () => ask('/console/api/totp', { method: 'DELETE', body: { code } });
  return (
    <Panel
      title={t('totp')}
      id="p-totp"
      beside={<Status s={person.hasTotp ? 'ok' : 'idle'}>{person.hasTotp ? t('totpOn') : t('totpOff')}</Status>}
    >
      <div className="in form">
        {!person.hasTotp && !secret && (
          <div>
            <button type="button" className="btn" onClick={() => void saving.run(() => change(start))}>
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
          <form className="form" onSubmit={saving.submit(() => change(secret ? confirm : stop))}>
            <CodeField label={t('code')} value={code} onText={setCode} />
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
        <FormError error={saving.error} />
      </div>
    </Panel>
  );
}
