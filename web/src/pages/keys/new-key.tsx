import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import { isMember, type Named, useMay, useSession } from '../../api/session.ts';
import { useWords } from '../../i18n/words.ts';
import { Drawer } from '../../parts/drawer.tsx';
import { Field, Select } from '../../parts/form.tsx';
import { LimitFields, setLimits, useLimitTexts, writeLimits } from '../../parts/limit-fields.tsx';
import { FormError } from '../../parts/states.tsx';
import { common } from '../../parts/words.ts';
import type { CreatedKey } from './created.tsx';
import { useKeysPath } from './use-keys.ts';
import { words } from './words.ts';

interface Props {
  accounts: readonly Named[];
  onClose: () => void;
  onCreated: (key: CreatedKey) => void;
}

export const readNames = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

export function NewKey({ accounts, onClose, onCreated }: Props) {
  const t = useWords(words);
  const c = useWords(common);
  const may = useMay();
  const member = isMember(useSession());
  const path = useKeysPath();
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [account, setAccount] = useState<string>();
  const [kind, setKind] = useState('caller');
  const [models, setModels] = useState('');
  const [expires, setExpires] = useState('');
  const [limits, setLimitTexts] = useLimitTexts();
  const [error, setError] = useState<unknown>();
  const written = writeLimits(limits);
  const charged = account ?? accounts[0]?.id;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!written) return;
    const names = readNames(models);
    const body = {
      name,
      ...(!member && { account: charged, kind }),
      ...(names.length > 0 && { models: names }),
      ...(expires !== '' && { expiresAt: new Date(expires).toISOString() }),
      ...setLimits(written),
    };
    try {
      onCreated(await ask<CreatedKey>(path, { method: 'POST', body }));
      await refresh(client, 'keys');
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <Drawer title={t('newTitle')} onClose={onClose}>
      <section>
        <form className="form" onSubmit={submit}>
          <Field
            label={c('name')}
            hint={t('nameHint')}
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          {!member && (
            <Select label={c('account')} value={charged} onChange={(event) => setAccount(event.target.value)}>
              {accounts.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
          )}
          {may('admin-keys:write') && (
            <Select label={t('kind')} value={kind} onChange={(event) => setKind(event.target.value)}>
              <option value="caller">{t('caller')}</option>
              <option value="admin">{t('admin')}</option>
            </Select>
          )}
          <Field
            label={t('models')}
            hint={t('modelsHint')}
            value={models}
            onChange={(event) => setModels(event.target.value)}
          />
          <Field
            label={t('expires')}
            type="date"
            value={expires}
            onChange={(event) => setExpires(event.target.value)}
          />
          <LimitFields texts={limits} onChange={setLimitTexts} />
          <FormError error={error} />
          <div className="row">
            <button type="submit" className="btn go" disabled={!written}>
              {t('create')}
            </button>
            <button type="button" className="btn plain" onClick={onClose}>
              {c('cancel')}
            </button>
          </div>
        </form>
      </section>
    </Drawer>
  );
}
