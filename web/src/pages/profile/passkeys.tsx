/** One's own passkeys. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import type { Passkey } from '../../api/passkeys.ts';
import { SESSION, useSession } from '../../api/session.ts';
import type { Page } from '../../api/types.ts';
import { dateOf } from '../../format/dates.ts';
import { useWords } from '../../i18n/words.ts';
import { Panel } from '../../parts/basic.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { Loaded } from '../../parts/states.tsx';
import { type Saving, useSaving } from '../../parts/use-saving.ts';
import { words } from './words.ts';

export function Passkeys() {
  const t = useWords(words);
  const client = useQueryClient();
  const passkeys = useQuery({ queryKey: ['passkeys'], queryFn: () => ask<Page<Passkey>>('/console/api/passkeys') });
  const me = useSession();
  const { person, session } = me;
  const [name, setName] = useState('');
  const [current, setCurrent] = useState('');
  const saving = useSaving();
  const again = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['passkeys'] }),
      client.invalidateQueries({ queryKey: SESSION }),
    ]);
  const add = async () => {
    const { addPasskey, showPresence } = await import('../../api/passkeys.ts');
    await addPasskey(name, await showPresence(me, current));
    setName('');
    setCurrent('');
    await again();
  };
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
                  <PasskeyLine key={passkey.id} passkey={passkey} saving={saving} onDone={again} />
                ))}
              </ul>
            )
          }
        </Loaded>
        <form className="with" onSubmit={saving.submit(add)}>
          <input
            className="in1"
            aria-label={t('passkeyName')}
            placeholder={t('passkeyName')}
            required
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          {person.hasPassword && (
            <input
              className="in1"
              type="password"
              autoComplete="current-password"
              aria-label={t('current')}
              placeholder={t('current')}
              required={session.way === 'password' && person.passkeys === 0}
              value={current}
              onChange={(event) => setCurrent(event.target.value)}
            />
          )}
          <button type="submit" className="btn">
            {t('addPasskey')}
          </button>
        </form>
        <FormError error={saving.error} />
      </div>
    </Panel>
  );
}

interface LineProps {
  passkey: Passkey;
  saving: Saving;
  onDone: () => Promise<unknown>;
}

function PasskeyLine({ passkey, saving, onDone }: LineProps) {
  const { id, name, createdAt, usedAt, isSynced, host } = passkey;
  const t = useWords(words);
  const [next, setNext] = useState<string>();
  const [asking, setAsking] = useState(false);
  const facts = [
    t('added', { date: dateOf(createdAt) }),
    usedAt === null ? t('unused') : t('used', { date: dateOf(usedAt) }),
    t(isSynced ? 'synced' : 'oneDevice'),
    ...(host === location.hostname ? [] : [host]),
  ];
  const path = `/console/api/passkeys/${id}`;
  const rename = async () => {
    try {
      await ask(path, { method: 'PATCH', body: { name: next } });
      await onDone();
    } finally {
      setNext(undefined);
    }
  };
  if (next !== undefined)
    return (
      <li>
        <form className="with" onSubmit={saving.submit(rename)}>
          <input
            className="in1"
            aria-label={t('renamePasskey', { name })}
            required
            value={next}
            onChange={(event) => setNext(event.target.value)}
          />
          <button type="submit" className="btn">
            {t('save')}
          </button>
        </form>
      </li>
    );
  return (
    <li>
      <div>
        <div className="strong">{name}</div>
        <div className="dimmer">{facts.join(' · ')}</div>
      </div>
      <span className="row">
        <button type="button" className="btn" aria-label={t('renamePasskey', { name })} onClick={() => setNext(name)}>
          {t('rename')}
        </button>
        <button type="button" className="btn" aria-label={t('removePasskey', { name })} onClick={() => setAsking(true)}>
          {t('remove')}
        </button>
      </span>
      {asking && (
        <Confirm
          title={t('removePasskey', { name })}
          effect={t('removeText')}
          action={t('remove')}
          onConfirm={() => ask(path, { method: 'DELETE' }).then(onDone)}
          onClose={() => setAsking(false)}
        />
      )}
    </li>
  );
}
