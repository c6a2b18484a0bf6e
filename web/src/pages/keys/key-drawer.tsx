import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Key } from '../../api/types.ts';
import { exactMoney } from '../../format/money.ts';
import { useWords } from '../../i18n/words.ts';
import { useNow } from '../../parts/basic.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Field } from '../../parts/form.tsx';
import { LimitFields, useLimitTexts, writeLimits } from '../../parts/limit-fields.tsx';
import { FormError, Loaded } from '../../parts/states.tsx';
import { common } from '../../parts/words.ts';
import type { CreatedKey } from './created.tsx';
import { KeyStatus } from './keys.tsx';
import { readNames } from './new-key.tsx';
import { useKey, useKeysPath } from './use-keys.ts';
import { words } from './words.ts';

interface Props {
  id: string;
  onClose: () => void;
  onRotated: (key: CreatedKey) => void;
}

export function KeyDrawer({ id, onClose, onRotated }: Props) {
  const t = useWords(words);
  const key = useKey(id);
  return (
    <Drawer title={key.data?.name ?? t('title')} sub={id} onClose={onClose}>
      <Loaded of={key}>{(data) => <Body of={data} onClose={onClose} onRotated={onRotated} />}</Loaded>
    </Drawer>
  );
}

const GRACE_SECONDS = 86_400;

function Body({ of, onClose, onRotated }: { of: Key; onClose: () => void; onRotated: (key: CreatedKey) => void }) {
  const t = useWords(words);
  const c = useWords(common);
  const may = useMay();
  const now = useNow();
  const client = useQueryClient();
  const path = `${useKeysPath()}/${of.id}`;
  const [asking, setAsking] = useState<'remove' | 'rotate'>();
  const [error, setError] = useState<unknown>();
  const mayWrite = may('keys:write') || may('own:write');
  const change = async (action: 'disable' | 'enable') => {
    try {
      await ask(`${path}/${action}`, { method: 'POST', body: {} });
      await refresh(client, 'keys', 'key');
    } catch (reason) {
      setError(reason);
    }
  };
  const rotate = async () => {
    onRotated(await ask<CreatedKey>(`${path}/rotate`, { method: 'POST', body: { graceSeconds: GRACE_SECONDS } }));
    await refresh(client, 'keys', 'key');
  };
  const remove = async () => {
    await ask(path, { method: 'DELETE' });
    await refresh(client, 'keys');
    onClose();
  };
  return (
    <>
      <section>
        <dl className="facts">
          <Fact name={c('status')} value={<KeyStatus of={of} now={now} />} />
          <Fact name={t('today')} value={exactMoney(of.spent?.day)} />
          <Fact name={t('thisMonth')} value={exactMoney(of.spent?.month)} />
          <Fact name={t('inAll')} value={exactMoney(of.spent?.total)} />
        </dl>
        <p style={{ marginBlockStart: '.75rem' }}>
          <Link to="/calls" search={{ key: of.id }}>
            {t('calls')}
          </Link>
        </p>
      </section>
      {mayWrite && <EditLimits of={of} path={path} />}
      {mayWrite && (
        <section>
          <div className="row">
            <button type="button" className="btn" onClick={() => void change(of.disabledAt ? 'enable' : 'disable')}>
              {of.disabledAt ? c('enable') : c('disable')}
            </button>
            <button type="button" className="btn" onClick={() => setAsking('rotate')}>
              {t('rotate')}
            </button>
            <button type="button" className="btn danger" onClick={() => setAsking('remove')}>
              {t('remove')}
            </button>
          </div>
          <FormError error={error} />
        </section>
      )}
      {asking === 'rotate' && (
        <Confirm
          title={t('rotateTitle', { name: of.name })}
          effect={t('rotateText')}
          action={t('rotate')}
          onConfirm={rotate}
          onClose={() => setAsking(undefined)}
        />
      )}
      {asking === 'remove' && (
        <Confirm
          title={t('removeTitle', { name: of.name })}
          effect={t('removeText')}
          action={t('remove')}
          name={of.name}
          mild={{ text: t('disableInstead'), run: () => void change('disable').then(() => setAsking(undefined)) }}
          onConfirm={remove}
          onClose={() => setAsking(undefined)}
        />
      )}
    </>
  );
}

function Fact({ name, value }: { name: string; value: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function EditLimits({ of, path }: { of: Key; path: string }) {
  const t = useWords(words);
  const c = useWords(common);
  const client = useQueryClient();
  const [name, setName] = useState(of.name);
  const [models, setModels] = useState(of.models?.join(', ') ?? '');
  const [limits, setLimits] = useLimitTexts(of);
  const [error, setError] = useState<unknown>();
  const [saved, setSaved] = useState(false);
  const written = writeLimits(limits);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!written) return;
    const names = readNames(models);
    try {
      await ask(path, { method: 'PATCH', body: { name, models: names.length > 0 ? names : null, ...written } });
      await refresh(client, 'keys', 'key');
      setError(undefined);
      setSaved(true);
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <section aria-labelledby="k-lim">
      <h2 id="k-lim">{t('limits')}</h2>
      <form className="form" onSubmit={submit} onChange={() => setSaved(false)}>
        <Field label={c('name')} required value={name} onChange={(event) => setName(event.target.value)} />
        <Field
          label={t('models')}
          hint={t('modelsHint')}
          value={models}
          onChange={(event) => setModels(event.target.value)}
        />
        <LimitFields texts={limits} onChange={setLimits} />
        <FormError error={error} />
        <div className="row">
          <button type="submit" className="btn go" disabled={!written}>
            {c('save')}
          </button>
          <span aria-live="polite" className="dim">
            {saved && c('saved')}
          </span>
        </div>
      </form>
    </section>
  );
}
