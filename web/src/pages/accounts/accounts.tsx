/** Accounts: balances, moving money, limits. */
import { useAccounts } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Account } from '../../api/types.ts';
import { shortMoney } from '../../format/money.ts';
import { useWords } from '../../i18n/words.ts';
import { Ago, useNow } from '../../parts/basic.tsx';
import { AddButton, ListPage, Rows, useListAddress } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';
import { AccountDrawer } from './account-drawer.tsx';
import { AccountStatus } from './account-status.tsx';
import { NewAccount } from './new-account.tsx';
import { words } from './words.ts';

export function AccountsPage() {
  const t = useWords(words);
  const may = useMay();
  const accounts = useAccounts();
  const columns = useColumns();
  const address = useListAddress('/accounts');
  const { opened, open, close } = address;
  const drawer = opened !== undefined && opened !== 'new' && <AccountDrawer key={opened} id={opened} onClose={close} />;
  return (
    <ListPage
      title={t('title')}
      label={t('list')}
      actions={may('accounts:write') && <AddButton text={t('create')} onClick={() => open('new')} />}
      drawer={opened === 'new' && may('accounts:write') ? <NewAccount onClose={close} onCreated={open} /> : drawer}
    >
      <Rows
        of={accounts}
        address={address}
        label={t('list')}
        columns={columns}
        empty={<Empty icon="accounts" title={t('emptyTitle')} text={t('nameHint')} />}
      />
    </ListPage>
  );
}

function useColumns(): Column<Account>[] {
  const t = useWords(words);
  const c = useWords(common);
  const now = useNow();
  const status = (row: Account) => <AccountStatus of={row} />;
  return [
    { id: 'name', head: c('name'), opens: true, cell: ({ name }) => name, narrow: status },
    { id: 'status', head: c('status'), drop: 'p1', cell: status },
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
}
