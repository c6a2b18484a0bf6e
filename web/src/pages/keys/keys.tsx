/** Keys: the list, creating one, and a drawer for its limits. */
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccounts, useKeys } from '../../api/queries.ts';
import { isMember, useMay, useSession } from '../../api/session.ts';
import type { Key } from '../../api/types.ts';
import { shortMoney } from '../../format/money.ts';
import { useWords } from '../../i18n/words.ts';
import { Ago, Head, Share, Status, useNow } from '../../parts/basic.tsx';
import { Chip, Chips } from '../../parts/chips.tsx';
import { withFilter } from '../../parts/filters.ts';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';
import { CreatedDialog, type CreatedKey } from './created.tsx';
import { KeyDrawer } from './key-drawer.tsx';
import { NewKey } from './new-key.tsx';
import { budgetShare, stateOf } from './state.ts';
import { words } from './words.ts';

const route = getRouteApi('/keys');

export function KeysPage() {
  const t = useWords(words);
  const c = useWords(common);
  const search = route.useSearch();
  const navigate = useNavigate();
  const may = useMay();
  const session = useSession();
  const member = isMember(session);
  const keys = useKeys();
  const accounts = useAccounts(may('accounts:read')).data ?? session.accounts;
  const [created, setCreated] = useState<CreatedKey>();
  const go = (next: typeof search) => void navigate({ to: '/keys', search: next });
  const { open: opened, ...closed } = search;
  const mayWrite = may('keys:write') || may('own:write');
  const accountName = accounts.find(({ id }) => id === search.account)?.name;
  const states = [
    ['active', t('active')],
    ['disabled', c('disabled')],
  ] as const;
  return (
    <div className="split">
      <main className="page" id="main">
        <Head title={t('title')}>
          {mayWrite && (
            <button type="button" className="btn go" onClick={() => go({ ...closed, open: 'new' })}>
              <Icon name="plus" />
              {t('create')}
            </button>
          )}
        </Head>
        <Chips>
          {!member && (
            <Chip
              label={c('account')}
              value={search.account}
              shown={accountName}
              options={accounts.map(({ id, name }) => [id, name] as const)}
              onChange={(value) => go(withFilter(search, 'account', value))}
            />
          )}
          <Chip
            label={c('status')}
            value={search.status}
            shown={states.find(([value]) => value === search.status)?.[1]}
            options={states}
            onChange={(value) => go(withFilter(search, 'status', value))}
          />
        </Chips>
        <section className="panel" aria-label={t('list')}>
          <Loaded of={keys}>
            {(rows) => (
              <KeyTable
                rows={rows.filter((key) => isShown(key, search))}
                isFiltered={search.account !== undefined || search.status !== undefined}
                accountOf={(id) => accounts.find((account) => account.id === id)?.name ?? id}
                selected={opened}
                onOpen={({ id }) => go({ ...closed, open: id })}
              />
            )}
          </Loaded>
        </section>
      </main>
      {opened === 'new' && <NewKey accounts={accounts} onClose={() => go(closed)} onCreated={setCreated} />}
      {opened !== undefined && opened !== 'new' && (
        <KeyDrawer key={opened} id={opened} onClose={() => go(closed)} onRotated={setCreated} />
      )}
      {created && (
        <CreatedDialog
          created={created}
          onClose={() => {
            setCreated(undefined);
            go(closed);
          }}
        />
      )}
    </div>
  );
}

function isShown(key: Key, { account, status }: { account?: string; status?: string }): boolean {
  if (account !== undefined && key.account !== account) return false;
  return status === undefined || (status === 'disabled') === (key.disabledAt !== undefined);
}

interface TableProps {
  rows: readonly Key[];
  isFiltered: boolean;
  accountOf: (id: string) => string;
  selected: string | undefined;
  onOpen: (key: Key) => void;
}

function KeyTable({ rows, isFiltered, accountOf, selected, onOpen }: TableProps) {
  const t = useWords(words);
  const c = useWords(common);
  const now = useNow();
  if (rows.length === 0) {
    return isFiltered ? (
      <Empty icon="search" title={t('noMatch')} />
    ) : (
      <Empty icon="keys" title={t('emptyTitle')} text={t('emptyText')} />
    );
  }
  const columns: Column<Key>[] = [
    {
      id: 'name',
      head: c('name'),
      cell: (key) => (
        <>
          <button type="button" className="link strong" onClick={() => onOpen(key)}>
            {key.name}
          </button>
          <span className="sub only-narrow">{accountOf(key.account)}</span>
        </>
      ),
    },
    { id: 'account', head: c('account'), drop: 'p1', dim: true, cell: ({ account }) => accountOf(account) },
    { id: 'key', head: c('key'), drop: 'p2', className: 'mono dim', cell: ({ last4 }) => `sk-…${last4}` },
    {
      id: 'kind',
      head: t('kind'),
      drop: 'p3',
      dim: true,
      cell: ({ kind }) => (kind === 'admin' ? t('admin') : t('caller')),
    },
    { id: 'status', head: c('status'), cell: (key) => <KeyStatus of={key} now={now} /> },
    { id: 'budget', head: t('budget'), drop: 'p2', cell: (key) => <BudgetCell of={key} /> },
    {
      id: 'created',
      head: c('created'),
      drop: 'p2',
      num: true,
      dim: true,
      cell: ({ createdAt }) => <Ago at={createdAt} now={now} />,
    },
  ];
  return (
    <Table
      label={t('list')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      selected={selected}
      onOpen={onOpen}
    />
  );
}

export function KeyStatus({ of, now }: { of: Key; now: number }) {
  const t = useWords(words);
  const c = useWords(common);
  const { s, word, n } = stateOf(of, now);
  const text =
    word === 'disabled' ? c('disabled') : word === 'expiresIn' || word === 'budgetAt' ? t(word, { n }) : t(word);
  return <Status s={s}>{text}</Status>;
}

function BudgetCell({ of }: { of: Key }) {
  const t = useWords(words);
  const share = budgetShare(of);
  if (!share) return <span className="dimmer">{t('noBudget')}</span>;
  const word = { month: 'aMonth', day: 'aDay', total: 'inTotal' } as const;
  return (
    <>
      <span className="dim">{t(word[share.window], { amount: shortMoney(of.budget?.[share.window]) })}</span>
      {of.spent && <Share percent={share.percent} s={share.percent >= 80 ? 'warn' : 'ok'} />}
    </>
  );
}
