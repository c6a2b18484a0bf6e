/** Alerts: the latest ones, the channels they are sent to, and the rules. */
import { type Translate, useWords } from '../../i18n/words.ts';
import { Ago, Page, Segments, type State, Status, useNow } from '../../parts/basic.tsx';
import { type ListAddress, PagedRows, useListAddress } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
import { usePage } from '../../parts/use-page.ts';
import { common } from '../../parts/words.ts';
import { Channels } from './channels.tsx';
import { Rules } from './rules.tsx';
import { words } from './words.ts';

interface Alert {
  id: string;
  at: string;
  rule: string;
  severity: string;
  subject: string;
  title: string;
  text: string;
  deliveries: { channel: string; state: string; tries: number; error?: string }[];
}

const TABS = ['alerts', 'channels', 'rules'] as const;
type Tab = (typeof TABS)[number];

export function AlertsPage() {
  const t = useWords(words);
  const address = useListAddress('/alerts');
  const tab = TABS.find((name) => name === address.listed.tab) ?? 'alerts';
  return (
    <Page
      title={t('title')}
      actions={
        <Segments<Tab>
          label={t('show')}
          value={tab}
          options={TABS.map((name) => [name, t(name)] as const)}
          onChange={(next) => address.go({ tab: next })}
        />
      }
    >
      {tab === 'alerts' && <Latest address={address} />}
      {tab === 'channels' && <Channels />}
      {tab === 'rules' && <Rules />}
    </Page>
  );
}

const SEVERITIES: { readonly [severity: string]: State } = { error: 'bad', warning: 'warn', info: 'idle' };

function deliveryOf({ deliveries }: Alert, t: Translate<typeof words>): { s: State; text: string } {
  if (deliveries.length === 0) return { s: 'idle', text: t('noChannel') };
  if (deliveries.some(({ state }) => state === 'dead')) return { s: 'bad', text: t('dead') };
  return deliveries.some(({ state }) => state === 'pending')
    ? { s: 'warn', text: t('pending') }
    : { s: 'ok', text: t('delivered') };
}

function Latest({ address }: { address: ListAddress }) {
  const t = useWords(words);
  const c = useWords(common);
  const now = useNow();
  const alerts = usePage<Alert>('alerts', '/admin/v1/alerts', { after: address.listed.after });
  const columns: Column<Alert>[] = [
    { id: 'time', head: c('time'), dim: true, cell: ({ at }) => <Ago at={at} now={now} /> },
    {
      id: 'what',
      head: t('what'),
      cell: ({ title, severity }) => <Status s={SEVERITIES[severity] ?? 'idle'}>{title}</Status>,
      sub: ({ text }) => text,
    },
    { id: 'rule', head: t('rule'), drop: 'p2', dim: true, cell: ({ rule }) => rule },
    {
      id: 'sent',
      head: t('sent'),
      drop: 'p1',
      cell: (row) => {
        const { s, text } = deliveryOf(row, t);
        return <Status s={s}>{text}</Status>;
      },
    },
  ];
  return (
    <section className="panel" aria-label={t('list')}>
      <PagedRows
        of={alerts}
        address={address}
        label={t('list')}
        columns={columns}
        empty={<Empty icon="alerts" title={t('emptyTitle')} text={t('emptyText')} />}
      />
    </section>
  );
}
