/** Keys: the list, creating one, and a drawer for its limits. */
import { useState } from 'react';
import { useAccounts, useKeys } from '../../api/queries.ts';
import { isMember, mayMakeKeys, useMay, useSession } from '../../api/session.ts';
import type { Key } from '../../api/types.ts';
import { shortMoney } from '../../format/money.ts';
import { useWords } from '../../i18n/words.ts';
import { Ago, Share, useNow } from '../../parts/basic.tsx';
import { Chip, Chips, NamedChip } from '../../parts/chips.tsx';
import { type ListSearch, withFilter } from '../../parts/filters.ts';
import { AddButton, ListPage, Rows, useListAddress } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';
import { CreatedDialog, type CreatedKey } from './created.tsx';
import { KeyDrawer } from './key-drawer.tsx';
import { KeyStatus } from './key-status.tsx';
import { NewKey } from './new-key.tsx';
import { budgetShare } from './state.ts';
import { words } from './words.ts';

export function KeysPage() {
  const t = useWords(words);
  const c = useWords(common);
  const may = useMay();
  const session = useSession();
  const address = useListAddress('/keys');
  const { opened, listed, go, open, close } = address;
  const keys = useKeys();
  const accounts = useAccounts(may('accounts:read')).data ?? session.accounts;
  const columns = useColumns((id) => accounts.find((account) => account.id === id)?.name ?? id);
  const [created, setCreated] = useState<CreatedKey>();
  const mayWrite = mayMakeKeys(session);
  const states = [
    ['active', t('active')],
    ['disabled', c('disabled')],
  ] as const;
  const set = (name: 'account' | 'status') => (value: string | undefined) => go(withFilter(listed, name, value));
  const filters = (
    <Chips>
      {!isMember(session) && (
        <NamedChip label={c('account')} value={listed.account} of={accounts} onChange={set('account')} />
      )}
      <Chip label={c('status')} value={listed.status} options={states} onChange={set('status')} />
    </Chips>
  );
  const isFiltered = listed.account !== undefined || listed.status !== undefined;
  const empty = isFiltered ? (
    <Empty icon="search" title={t('noMatch')} />
  ) : (
    <Empty icon="keys" title={t('emptyTitle')} text={t('emptyText')} />
  );
  const drawer = opened !== undefined && opened !== 'new' && (
    <KeyDrawer key={opened} id={opened} onClose={close} onRotated={setCreated} />
  );
  const closeCreated = () => {
    setCreated(undefined);
    close();
  };
  return (
    <>
      <ListPage
        title={t('title')}
        label={t('list')}
        actions={mayWrite && <AddButton text={t('create')} onClick={() => open('new')} />}
        filters={filters}
        drawer={
          opened === 'new' && mayWrite ? <NewKey accounts={accounts} onClose={close} onCreated={setCreated} /> : drawer
        }
      >
        <Rows
          of={keys}
          isShown={(key) => isShown(key, listed)}
          address={address}
          label={t('list')}
          columns={columns}
          empty={empty}
        />
      </ListPage>
      {created && <CreatedDialog created={created} onClose={closeCreated} />}
    </>
  );
}

function isShown(key: Key, { account, status }: ListSearch): boolean {
  if (account !== undefined && key.account !== account) return false;
  return status === undefined || (status === 'disabled') === (key.disabledAt !== undefined);
}

function useColumns(accountOf: (id: string) => string): Column<Key>[] {
  const t = useWords(words);
  const c = useWords(common);
  const now = useNow();
  const account = ({ account }: Key) => accountOf(account);
  return [
    { id: 'name', head: c('name'), opens: true, cell: ({ name }) => name, narrow: account },
    { id: 'account', head: c('account'), drop: 'p1', dim: true, cell: account },
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
