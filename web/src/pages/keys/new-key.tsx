/** The drawer for a new key. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import { isMember, type Named, useMay, useSession } from '../../api/session.ts';
import { endOfDay } from '../../format/dates.ts';
import { useWords } from '../../i18n/words.ts';
import { Drawer } from '../../parts/drawer.tsx';
import { NamedSelect } from '../../parts/fields.tsx';
import { Field, Select } from '../../parts/form.tsx';
import { LimitFields, setLimits, useLimitTexts, writeLimits } from '../../parts/limit-fields.tsx';
import { CreateRow } from '../../parts/save-row.tsx';
import { useSaving } from '../../parts/use-saving.ts';
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
  const saving = useSaving();
  const written = writeLimits(limits);
  const charged = account ?? accounts[0]?.id;
  const create = async () => {
    const names = readNames(models);
    const body = {
      name,
      ...(!member && { account: charged, kind }),
      ...(names.length > 0 && { models: names }),
      ...(expires !== '' && { expiresAt: endOfDay(expires).toISOString() }),
      ...(written && setLimits(written)),
    };
    onCreated(await ask<CreatedKey>(path, { method: 'POST', body }));
    await refresh(client, 'keys');
  };
  return (
    <Drawer title={t('newTitle')} onClose={onClose}>
      <section>
        <form className="form" onSubmit={saving.submit(create)}>
          <Field label={c('name')} hint={t('nameHint')} required maxLength={100} value={name} onText={setName} />
          {!member && <NamedSelect label={c('account')} value={charged} of={accounts} onText={setAccount} />}
          {may('admin-keys:write') && (
            <Select label={t('kind')} value={kind} onText={setKind}>
              <option value="caller">{t('caller')}</option>
              <option value="admin">{t('admin')}</option>
            </Select>
          )}
          <Field label={t('models')} hint={t('modelsHint')} value={models} onText={setModels} />
          <Field label={t('expires')} hint={c('endOfDay')} type="date" value={expires} onText={setExpires} />
          <LimitFields texts={limits} onChange={setLimitTexts} />
          <CreateRow saving={saving} label={t('create')} disabled={!written} onCancel={onClose} />
        </form>
      </section>
    </Drawer>
  );
}
