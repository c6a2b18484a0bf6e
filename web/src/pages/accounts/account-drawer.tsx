/** The drawer of an account: balance, entries, moving money, limits. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Account } from '../../api/types.ts';
import { exactMoney } from '../../format/amounts.ts';
import { useWords } from '../../i18n/words.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { LimitFields, useLimitTexts, writeLimits } from '../../parts/limit-fields.tsx';
import { SaveRow } from '../../parts/save-row.tsx';
import { Loaded } from '../../parts/states.tsx';
import { useChanges } from '../../parts/use-changes.ts';
import { type Saving, useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import { AccountStatus } from './account-status.tsx';
import { Entries } from './entries.tsx';
import { MoveMoney } from './move-money.tsx';
import { words } from './words.ts';

export function AccountDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const t = useWords(words);
  const account = useQuery({
    queryKey: ['account', id],
    queryFn: () => ask<Account>(`/admin/v1/accounts/${encodeURIComponent(id)}`),
  });
  return (
    <Drawer title={account.data?.name ?? t('title')} sub={id} onClose={onClose}>
      <Loaded of={account}>{(data) => <Body of={data} />}</Loaded>
    </Drawer>
  );
}

function Body({ of }: { of: Account }) {
  const t = useWords(words);
  const c = useWords(common);
  const may = useMay();
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const acting = useSaving();
  const path = `/admin/v1/accounts/${of.id}`;
  const change = async (action: 'disable' | 'enable') => {
    await ask(`${path}/${action}`, { method: 'POST', body: {} });
    await refresh(client, 'accounts', 'account');
  };
  return (
    <>
      <section>
        <dl className="facts">
          <div>
            <dt>{c('balance')}</dt>
            <dd
              style={{ font: 'var(--t-20)', letterSpacing: 'var(--tight)', whiteSpace: 'nowrap', overflow: 'visible' }}
            >
              {exactMoney(of.available)}
            </dd>
          </div>
          <div>
            <dt>{t('held')}</dt>
            <dd>{exactMoney(of.held)}</dd>
          </div>
          <div>
            <dt>{c('spend')}</dt>
            <dd>{exactMoney(of.spent?.total)}</dd>
          </div>
          <div>
            <dt>{c('status')}</dt>
            <dd>
              <AccountStatus of={of} />
            </dd>
          </div>
        </dl>
        <p className="row" style={{ marginBlockStart: '.75rem' }}>
          <Link to="/calls" search={{ account: of.id }}>
            {t('calls')}
          </Link>
          <Link to="/keys" search={{ account: of.id }}>
            {t('keys')}
          </Link>
        </p>
      </section>
      {may('money:write') && <MoveMoney path={path} />}
      {may('money:read') && <Entries path={path} />}
      {may('accounts:write') && <EditLimits of={of} path={path} />}
      {may('accounts:write') && (
        <Switch
          of={of}
          acting={acting}
          onPress={() => (of.disabledAt ? void acting.run(() => change('enable')) : setAsking(true))}
        />
      )}
      {asking && (
        <Confirm
          title={t('disableTitle', { name: of.name })}
          effect={t('disableText')}
          action={c('disable')}
          name={of.name}
          onConfirm={() => change('disable')}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

interface SwitchProps {
  of: Account;
  acting: Saving;
  onPress: () => void;
}

function Switch({ of, acting, onPress }: SwitchProps) {
  const c = useWords(common);
  return (
    <section>
      <button type="button" className="btn" disabled={acting.busy} onClick={onPress}>
        {of.disabledAt ? c('enable') : c('disable')}
      </button>
      <FormError error={acting.error} isOnce />
    </section>
  );
}

function EditLimits({ of, path }: { of: Account; path: string }) {
  const t = useWords(words);
  const [limits, setTexts] = useLimitTexts(of);
  const saving = useSaving();
  const written = writeLimits(limits);
  const save = useChanges(path, written ?? {}, 'accounts', 'account');
  return (
    <section aria-labelledby="a-lim">
      <h2 id="a-lim">{t('limits')}</h2>
      <form className="form" onSubmit={saving.submit(save)} onChange={saving.touch}>
        <LimitFields texts={limits} onChange={setTexts} />
        <SaveRow saving={saving} disabled={!written} isMain={false} />
      </form>
    </section>
  );
}
