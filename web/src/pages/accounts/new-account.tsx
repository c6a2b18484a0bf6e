import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import type { Account } from '../../api/types.ts';
import { useWords } from '../../i18n/words.ts';
import { Drawer } from '../../parts/drawer.tsx';
import { Field } from '../../parts/form.tsx';
import { LimitFields, setLimits, useLimitTexts, writeLimits } from '../../parts/limit-fields.tsx';
import { FormError } from '../../parts/states.tsx';
import { common } from '../../parts/words.ts';
import { words } from './words.ts';

export function NewAccount({ onClose, onCreated }: { onClose: () => void; onCreated: (id: string) => void }) {
  const t = useWords(words);
  const c = useWords(common);
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [limits, setTexts] = useLimitTexts();
  const [error, setError] = useState<unknown>();
  const written = writeLimits(limits);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!written) return;
    try {
      const { id } = await ask<Account>('/admin/v1/accounts', {
        method: 'POST',
        body: { name, ...setLimits(written) },
      });
      await refresh(client, 'accounts');
      onCreated(id);
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
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <LimitFields texts={limits} onChange={setTexts} />
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
