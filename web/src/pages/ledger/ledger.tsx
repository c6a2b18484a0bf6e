/** Ledger: the entries of an account, their verification, corrections with a preview. */
import { Link } from '@tanstack/react-router';
import { fetchAll, useAccounts } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Entry } from '../../api/types.ts';
import { exactMoney } from '../../format/amounts.ts';
import { count, fullTime } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Page } from '../../parts/basic.tsx';
import { Chips, NamedChip } from '../../parts/chips.tsx';
import { downloadCsv } from '../../parts/csv.ts';
import { useEntryKind } from '../../parts/entry-kind.ts';
import { ExportButton } from '../../parts/export-button.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { type ListAddress, PagedRows, useListAddress } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
import { usePage } from '../../parts/use-page.ts';
import { useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import { Verification } from './verification.tsx';
import { words } from './words.ts';

export function LedgerPage() {
  const t = useWords(words);
  const c = useWords(common);
  const may = useMay();
  const exporting = useSaving();
  const address = useListAddress('/ledger');
  const accounts = useAccounts(may('accounts:read')).data ?? [];
  const chosen = address.listed.account ?? (accounts.length === 1 ? accounts[0]?.id : undefined);
  return (
    <Page
      title={t('title')}
      actions={
        <>
          <Link className="btn" to="/calls" search={{ outcome: 'disputed' }}>
            {t('disputes')}
          </Link>
          {chosen !== undefined && (
            <ExportButton busy={exporting.busy} onClick={() => void exporting.run(() => exportEntries(chosen))} />
          )}
        </>
      }
    >
      <FormError error={exporting.error} />
      <Verification />
      <Chips>
        <NamedChip label={c('account')} value={chosen} of={accounts} onChange={(account) => address.go({ account })} />
      </Chips>
      <section className="panel" aria-label={t('list')}>
        {chosen === undefined ? (
          <Empty icon="ledger" title={t('choose')} />
        ) : (
          <Entries account={chosen} address={address} />
        )}
      </section>
    </Page>
  );
}

interface EntriesProps {
  account: string;
  address: ListAddress;
}

function Entries({ account, address }: EntriesProps) {
  const t = useWords(words);
  const path = `/admin/v1/accounts/${encodeURIComponent(account)}/entries`;
  const entries = usePage<Entry>('entries', path, { order: 'desc', after: address.listed.after });
  const columns = useColumns();
  return (
    <PagedRows
      of={entries}
      address={address}
      label={t('list')}
      columns={columns}
      empty={<Empty icon="ledger" title={t('emptyTitle')} />}
    />
  );
}

/** All entries of an account, the oldest first: names of columns as the API writes them. */
async function exportEntries(account: string): Promise<void> {
  const entries = await fetchAll<Entry>(
    `/admin/v1/accounts/${encodeURIComponent(account)}/entries`,
    Number.POSITIVE_INFINITY,
  );
  const head = ['seq', 'at', 'kind', 'amount', 'balanceAfter', 'callId', 'note', 'hash'] as const;
  downloadCsv('ledger.csv', [head, ...entries.map((entry) => head.map((name) => entry[name]))]);
}

function useColumns(): Column<Entry>[] {
  const t = useWords(words);
  const kindOf = useEntryKind();
  const c = useWords(common);
  return [
    { id: 'time', head: c('time'), dim: true, cell: ({ at }) => <time dateTime={at}>{fullTime(at)}</time> },
    { id: 'seq', head: t('entry'), drop: 'p1', num: true, cell: ({ seq }) => count(seq) },
    { id: 'kind', head: t('kind'), cell: ({ kind }) => <span className="strong">{kindOf(kind)}</span> },
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
}
