/** Ledger: the entries of an account, the proof of all, corrections with a preview. */
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useAccounts } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Entry } from '../../api/types.ts';
import { exactMoney } from '../../format/money.ts';
import { count, fullTime } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Head } from '../../parts/basic.tsx';
import { Chip, Chips } from '../../parts/chips.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Pager, Table } from '../../parts/table.tsx';
import { usePage } from '../../parts/use-page.ts';
import { common } from '../../parts/words.ts';
import { Proof } from './proof.tsx';
import { words } from './words.ts';

const route = getRouteApi('/ledger');

export function LedgerPage() {
  const t = useWords(words);
  const c = useWords(common);
  const may = useMay();
  const search = route.useSearch();
  const navigate = useNavigate();
  const accounts = useAccounts(may('accounts:read')).data ?? [];
  const chosen = search.account ?? (accounts.length === 1 ? accounts[0]?.id : undefined);
  const go = (next: typeof search) => void navigate({ to: '/ledger', search: next });
  return (
    <main className="page" id="main">
      <Head title={t('title')} />
      <Proof />
      <Chips>
        <Chip
          label={c('account')}
          value={chosen}
          shown={accounts.find(({ id }) => id === chosen)?.name}
          options={accounts.map(({ id, name }) => [id, name] as const)}
          onChange={(account) => go(account === undefined ? {} : { account })}
        />
      </Chips>
      <section className="panel" aria-label={t('list')}>
        {chosen === undefined ? (
          <Empty icon="ledger" title={t('choose')} />
        ) : (
          <Entries
            account={chosen}
            after={search.after}
            onPage={(after) => go({ account: chosen, ...(after && { after }) })}
          />
        )}
      </section>
    </main>
  );
}

interface EntriesProps {
  account: string;
  after: string | undefined;
  onPage: (after: string | undefined) => void;
}

function Entries({ account, after, onPage }: EntriesProps) {
  const t = useWords(words);
  const path = `/admin/v1/accounts/${encodeURIComponent(account)}/entries`;
  const entries = usePage<Entry>('entries', path, { order: 'desc', after });
  return (
    <Loaded of={entries}>
      {({ data, hasMore, next }) =>
        data.length === 0 ? (
          <Empty icon="ledger" title={t('emptyTitle')} />
        ) : (
          <>
            <EntryTable rows={data} />
            <Pager
              newer={after ? () => onPage(undefined) : undefined}
              older={hasMore && next ? () => onPage(next) : undefined}
            />
          </>
        )
      }
    </Loaded>
  );
}

function EntryTable({ rows }: { rows: readonly Entry[] }) {
  const t = useWords(words);
  const c = useWords(common);
  const columns: Column<Entry>[] = [
    { id: 'time', head: c('time'), dim: true, cell: ({ at }) => <time dateTime={at}>{fullTime(at)}</time> },
    { id: 'seq', head: t('entry'), drop: 'p1', num: true, cell: ({ seq }) => count(seq) },
    { id: 'kind', head: t('kind'), cell: ({ kind }) => <span className="strong">{kind}</span> },
    {
      id: 'call',
      head: t('call'),
      drop: 'p3',
      className: 'mono dim',
      cell: ({ callId }) =>
        callId ? (
          <Link to="/calls" search={{ call: callId }}>
            {callId}
          </Link>
        ) : (
          '–'
        ),
    },
    { id: 'note', head: t('note'), drop: 'p3', dim: true, cell: ({ note }) => note ?? '–' },
    {
      id: 'hash',
      head: t('hash'),
      drop: 'p3',
      className: 'mono dimmer',
      cell: ({ hash }) => <span title={hash}>{hash.slice(0, 8)}</span>,
    },
    { id: 'amount', head: c('amount'), num: true, cell: ({ amount }) => exactMoney(amount) },
    {
      id: 'balance',
      head: c('balance'),
      drop: 'p1',
      num: true,
      dim: true,
      cell: ({ balanceAfter }) => exactMoney(balanceAfter),
    },
  ];
  return <Table label={t('list')} columns={columns} rows={rows} rowKey={({ seq }) => String(seq)} />;
}
