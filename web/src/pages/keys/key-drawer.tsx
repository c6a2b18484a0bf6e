/** The drawer of a key: state, limits, rotating, disabling, deleting. */
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import { mayMakeKeys, useSession } from '../../api/session.ts';
import type { Key } from '../../api/types.ts';
import { exactMoney } from '../../format/amounts.ts';
import { useWords } from '../../i18n/words.ts';
import { useNow } from '../../parts/basic.tsx';
import { Confirm, ConfirmButton } from '../../parts/dialog.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { LimitFields, useLimitTexts, writeLimits } from '../../parts/limit-fields.tsx';
import { SaveRow } from '../../parts/save-row.tsx';
import { Loaded } from '../../parts/states.tsx';
import { useChanges } from '../../parts/use-changes.ts';
import { useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import type { CreatedKey } from './created.tsx';
import { KeyStatus } from './key-status.tsx';
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
  const now = useNow();
  const client = useQueryClient();
  const path = `${useKeysPath()}/${of.id}`;
  const [isRotating, setRotating] = useState(false);
  const acting = useSaving();
  const mayWrite = mayMakeKeys(useSession());
  const change = async (action: 'disable' | 'enable') => {
    await ask(`${path}/${action}`, { method: 'POST', body: {} });
    await refresh(client, 'keys', 'key');
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
            <button
              type="button"
              className="btn"
              onClick={() => void acting.run(() => change(of.disabledAt ? 'enable' : 'disable'))}
            >
              {of.disabledAt ? c('enable') : c('disable')}
            </button>
            <button type="button" className="btn" onClick={() => setRotating(true)}>
              {t('rotate')}
            </button>
            <ConfirmButton
              title={t('removeTitle', { name: of.name })}
              effect={t('removeText')}
              action={t('remove')}
              name={of.name}
              mild={{ text: t('disableInstead'), run: () => change('disable') }}
              onConfirm={remove}
            />
          </div>
          <FormError error={acting.error} />
        </section>
      )}
      {isRotating && (
        <Confirm
          title={t('rotateTitle', { name: of.name })}
          effect={t('rotateText')}
          action={t('rotate')}
          onConfirm={rotate}
          onClose={() => setRotating(false)}
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
  const [name, setName] = useState(of.name);
  const [models, setModels] = useState(of.models?.join(', ') ?? '');
  const [limits, setLimits] = useLimitTexts(of);
  const saving = useSaving();
  const written = writeLimits(limits);
  const names = readNames(models);
  const typed = { name, models: names.length > 0 ? names : null, ...written };
  const save = useChanges(path, typed, 'keys', 'key');
  return (
    <section aria-labelledby="k-lim">
      <h2 id="k-lim">{t('limits')}</h2>
      <form className="form" onSubmit={saving.submit(save)} onChange={saving.touch}>
        <Field label={c('name')} required value={name} onText={setName} />
        <Field label={t('models')} hint={t('modelsHint')} value={models} onText={setModels} />
        <LimitFields texts={limits} onChange={setLimits} />
        <SaveRow saving={saving} disabled={!written} />
      </form>
    </section>
  );
}
