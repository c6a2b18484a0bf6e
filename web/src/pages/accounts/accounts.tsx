/** Accounts: balances, moving money, limits. */
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useAccounts } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Account } from '../../api/types.ts';
import { compareMoney, shortMoney } from '../../format/money.ts';
import { useWords } from '../../i18n/words.ts';
import { Ago, Head, Status, useNow } from '../../parts/basic.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';
import { AccountDrawer } from './account-drawer.tsx';
import { NewAccount } from './new-account.tsx';
import { words } from './words.ts';

const route = getRouteApi('/accounts');
/** Below this an account is marked; what is low for one is plenty for another, so it is only a hint. */
const LOW = '1';

export function AccountsPage() {
  const t = useWords(words);
  const may = useMay();
  const search = route.useSearch();
  const navigate = useNavigate();
  const accounts = useAccounts();
  const open = (id: string | undefined) =>
    void navigate({ to: '/accounts', search: id === undefined ? {} : { open: id } });
  return (
    <div className="split">
      <main className="page" id="main">
        <Head title={t('title')}>
          {may('accounts:write') && (
            <button type="button" className="btn go" onClick={() => open('new')}>
              <Icon name="plus" />
              {t('create')}
            </button>
          )}
        </Head>
        <section className="panel" aria-label={t('list')}>
          <Loaded of={accounts}>
            {(rows) => <AccountTable rows={rows} selected={search.open} onOpen={({ id }) => open(id)} />}
          </Loaded>
        </section>
      </main>
      {search.open === 'new' && <NewAccount onClose={() => open(undefined)} onCreated={open} />}
      {search.open !== undefined && search.open !== 'new' && (
        <AccountDrawer key={search.open} id={search.open} onClose={() => open(undefined)} />
      )}
    </div>
  );
}

export function AccountStatus({ of }: { of: Account }) {
  const t = useWords(words);
  const c = useWords(common);
  if (of.disabledAt) return <Status s="idle">{c('disabled')}</Status>;
  if (compareMoney(of.available, '0') <= 0) return <Status s="bad">{t('empty')}</Status>;
  if (compareMoney(of.available, LOW) < 0) return <Status s="warn">{t('low')}</Status>;
  return <Status s="ok">{t('active')}</Status>;
}

function AccountTable({
  rows,
  selected,
  onOpen,
}: {
  rows: readonly Account[];
  selected: string | undefined;
  onOpen: (row: Account) => void;
}) {
  const t = useWords(words);
  const c = useWords(common);
  const now = useNow();
  if (rows.length === 0) return <Empty icon="accounts" title={t('emptyTitle')} text={t('nameHint')} />;
  const columns: Column<Account>[] = [
    {
      id: 'name',
      head: c('name'),
      cell: (row) => (
        <>
          <button type="button" className="link strong" onClick={() => onOpen(row)}>
            {row.name}
          </button>
          <span className="sub only-narrow">
            <AccountStatus of={row} />
          </span>
        </>
      ),
    },
    { id: 'status', head: c('status'), drop: 'p1', cell: (row) => <AccountStatus of={row} /> },
    {
      id: 'created',
      head: c('created'),
      drop: 'p2',
      dim: true,
      cell: ({ createdAt }) => <Ago at={createdAt} now={now} />,
    },
    { id: 'held', head: t('held'), drop: 'p2', num: true, dim: true, cell: ({ held }) => shortMoney(held) },
    { id: 'balance', head: c('balance'), num: true, cell: ({ available }) => shortMoney(available) },
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
