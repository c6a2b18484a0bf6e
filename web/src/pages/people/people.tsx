/** People: who may sign in, with which role. */
import { useMay } from '../../api/session.ts';
import { type Translate, useWords } from '../../i18n/words.ts';
import { Ago, Status, useNow } from '../../parts/basic.tsx';
import { AddButton, ListPage, PagedRows, useListAddress } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
import { usePage } from '../../parts/use-page.ts';
import { common } from '../../parts/words.ts';
import { Invite } from './invite.tsx';
import { PersonDrawer, type PersonRow } from './person-drawer.tsx';
import { words } from './words.ts';

export function PeoplePage() {
  const t = useWords(words);
  const may = useMay();
  const address = useListAddress('/people');
  const { opened, listed, open, close } = address;
  const people = usePage<PersonRow>('people', '/admin/v1/people', { after: listed.after });
  const columns = useColumns();
  const current = people.data?.data.find(({ id }) => id === opened);
  const drawer = current && <PersonDrawer key={current.id} person={current} onClose={close} />;
  return (
    <ListPage
      title={t('title')}
      label={t('list')}
      actions={may('people:write') && <AddButton text={t('invite')} onClick={() => open('new')} />}
      drawer={opened === 'new' && may('people:write') ? <Invite onClose={close} /> : drawer}
    >
      <PagedRows
        of={people}
        address={address}
        label={t('list')}
        columns={columns}
        empty={<Empty icon="people" title={t('emptyTitle')} />}
      />
    </ListPage>
  );
}

function protectionOf({ hasPassword, hasTotp, passkeys, oidc }: PersonRow, t: Translate<typeof words>): string {
  const ways = [
    hasPassword && t('password'),
    hasTotp && t('totp'),
    passkeys > 0 && t('passkeys', { n: passkeys }),
    oidc && t('oidc'),
  ];
  return ways.filter(Boolean).join(', ') || '–';
}

function useColumns(): Column<PersonRow>[] {
  const t = useWords(words);
  const c = useWords(common);
  const now = useNow();
  return [
    { id: 'name', head: c('name'), opens: true, cell: ({ name }) => name, sub: ({ email }) => email },
    { id: 'role', head: t('role'), cell: ({ role }) => t(role) },
    {
      id: 'status',
      head: c('status'),
      drop: 'p1',
      cell: ({ disabledAt }) => (
        <Status s={disabledAt ? 'idle' : 'ok'}>{disabledAt ? c('disabled') : t('active')}</Status>
      ),
    },
    { id: 'ways', head: t('protection'), drop: 'p2', dim: true, cell: (row) => protectionOf(row, t) },
    {
      id: 'seen',
      head: t('seen'),
      drop: 'p1',
      num: true,
      dim: true,
      cell: ({ seenAt }) => (seenAt ? <Ago at={seenAt} now={now} /> : t('never')),
    },
  ];
}
