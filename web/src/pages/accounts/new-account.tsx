/** The drawer for a new account. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import type { Account } from '../../api/types.ts';
import { useWords } from '../../i18n/words.ts';
import { Drawer } from '../../parts/drawer.tsx';
import { Field } from '../../parts/form.tsx';
import { LimitFields, setLimits, useLimitTexts, writeLimits } from '../../parts/limit-fields.tsx';
import { CreateRow } from '../../parts/save-row.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import { words } from './words.ts';

export function NewAccount({ onClose, onCreated }: { onClose: () => void; onCreated: (id: string) => void }) {
  const t = useWords(words);
  const c = useWords(common);
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [limits, setTexts] = useLimitTexts();
  const saving = useSaving();
  const written = writeLimits(limits);
  const create = async () => {
    const body = { name, ...(written && setLimits(written)) };
    const { id } = await ask<Account>('/admin/v1/accounts', { method: 'POST', body });
    await refresh(client, 'accounts');
    onCreated(id);
  };
  return (
    <Drawer title={t('newTitle')} onClose={onClose}>
      <section>
        <form className="form" onSubmit={saving.submit(create)}>
          <Field label={c('name')} hint={t('nameHint')} required value={name} onText={setName} />
          <LimitFields texts={limits} onChange={setTexts} />
          <CreateRow saving={saving} label={t('create')} disabled={!written} onCancel={onClose} />
        </form>
      </section>
    </Drawer>
  );
}
