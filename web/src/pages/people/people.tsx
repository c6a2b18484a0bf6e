/** People: who may sign in, with which role. */
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMay } from '../../api/session.ts';
import { type Translate, useWords } from '../../i18n/words.ts';
import { Ago, Head, Status, useNow } from '../../parts/basic.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Pager, Table } from '../../parts/table.tsx';
import { usePage } from '../../parts/use-page.ts';
import { common } from '../../parts/words.ts';
import { Invite } from './invite.tsx';
import { PersonDrawer, type PersonRow } from './person-drawer.tsx';
import { words } from './words.ts';

const route = getRouteApi('/people');

export function PeoplePage() {
  const t = useWords(words);
  const may = useMay();
  const search = route.useSearch();
  const navigate = useNavigate();
  const go = (next: typeof search) => void navigate({ to: '/people', search: next });
  const { open: opened, ...listed } = search;
  const people = usePage<PersonRow>('people', '/admin/v1/people', { after: search.after });
  const current = people.data?.data.find(({ id }) => id === opened);
  return (
    <div className="split">
      <main className="page" id="main">
        <Head title={t('title')}>
          {may('people:write') && (
            <button type="button" className="btn go" onClick={() => go({ ...listed, open: 'new' })}>
              <Icon name="plus" />
              {t('invite')}
            </button>
          )}
        </Head>
        <section className="panel" aria-label={t('list')}>
          <Loaded of={people}>
            {({ data, hasMore, next }) =>
              data.length === 0 ? (
                <Empty icon="people" title={t('emptyTitle')} />
              ) : (
                <>
                  <PeopleTable rows={data} selected={opened} onOpen={({ id }) => go({ ...listed, open: id })} />
                  <Pager
                    newer={search.after ? () => go({}) : undefined}
                    older={hasMore && next ? () => go({ after: next }) : undefined}
                  />
                </>
              )
            }
          </Loaded>
        </section>
      </main>
      {opened === 'new' && <Invite onClose={() => go(listed)} />}
      {current && <PersonDrawer key={current.id} person={current} onClose={() => go(listed)} />}
    </div>
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

function PeopleTable({
  rows,
  selected,
  onOpen,
}: {
  rows: readonly PersonRow[];
  selected: string | undefined;
  onOpen: (row: PersonRow) => void;
}) {
  const t = useWords(words);
  const c = useWords(common);
  const now = useNow();
  const columns: Column<PersonRow>[] = [
    {
      id: 'name',
      head: c('name'),
      cell: (row) => (
        <>
          <button type="button" className="link strong" onClick={() => onOpen(row)}>
            {row.name}
          </button>
          <span className="sub">{row.email}</span>
        </>
      ),
    },
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
