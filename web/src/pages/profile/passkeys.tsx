import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/client.ts';
import type { Passkey } from '../../api/passkeys.ts';
import { SESSION } from '../../api/session.ts';
import type { Page } from '../../api/types.ts';
import { dateOf } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Panel } from '../../parts/basic.tsx';
import { FormError, Loaded } from '../../parts/states.tsx';
import { words } from './words.ts';

export function Passkeys() {
  const t = useWords(words);
  const client = useQueryClient();
  const passkeys = useQuery({ queryKey: ['passkeys'], queryFn: () => ask<Page<Passkey>>('/console/api/passkeys') });
  const [name, setName] = useState('');
  const [error, setError] = useState<unknown>();
  const again = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['passkeys'] }),
      client.invalidateQueries({ queryKey: SESSION }),
    ]);
  const add = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const { addPasskey } = await import('../../api/passkeys.ts');
      await addPasskey(name);
      setName('');
      setError(undefined);
      await again();
    } catch (reason) {
      setError(reason);
    }
  };
  const remove = (id: string) => ask(`/console/api/passkeys/${id}`, { method: 'DELETE' }).then(again, setError);
  return (
    <Panel title={t('passkeys')} id="p-passkeys">
      <div className="in form">
        <Loaded of={passkeys} bones={2}>
          {({ data }) =>
            data.length === 0 ? (
              <p className="dim">{t('noPasskeys')}</p>
            ) : (
              <ul className="keys">
                {data.map((passkey) => (
                  <li key={passkey.id}>
                    <span>
                      <span className="strong">{passkey.name}</span>{' '}
                      <span className="dimmer">{dateOf(passkey.createdAt)}</span>
                    </span>
                    <button
                      type="button"
                      className="btn"
                      aria-label={t('removePasskey', { name: passkey.name })}
                      onClick={() => void remove(passkey.id)}
                    >
                      {t('remove')}
                    </button>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
        <form className="with" onSubmit={add}>
          <input
            className="in1"
            aria-label={t('passkeyName')}
            placeholder={t('passkeyName')}
            required
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <button type="submit" className="btn">
            {t('addPasskey')}
          </button>
        </form>
        <FormError error={error} />
      </div>
    </Panel>
  );
}
