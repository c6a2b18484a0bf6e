/** Limits: budgets and rates of all accounts and keys in one table. */
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useAccounts, useKeys } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Limits } from '../../api/types.ts';
import { shortMoney } from '../../format/money.ts';
import { count } from '../../format/numbers.ts';
import { dictionary, useWords } from '../../i18n/words.ts';
import { Page, Segments } from '../../parts/basic.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';

const words = dictionary({
  title: ['Limits', '限制'],
  list: ['List of limits', '限制列表'],
  show: ['Show', '显示'],
  accounts: ['Accounts', '账户'],
  keys: ['Keys', '令牌'],
  day: ['A day', '每日'],
  month: ['A month', '每月'],
  total: ['In total', '总计'],
  requests: ['Requests a minute', '每分钟请求数'],
  tokens: ['Tokens a minute', '每分钟 Token 数'],
  concurrency: ['Concurrency', '并发数'],
  emptyTitle: ['Nothing to limit yet', '暂无可限制的对象'],
});

interface Row extends Limits {
  id: string;
  name: string;
}

const route = getRouteApi('/limits');

export function LimitsPage() {
  const t = useWords(words);
  const may = useMay();
  const navigate = useNavigate();
  const tab = route.useSearch().tab === 'keys' ? 'keys' : 'accounts';
  const accounts = useAccounts(may('accounts:read'));
  const keys = useKeys(may('keys:read'));
  return (
    <Page
      title={t('title')}
      actions={
        <Segments<'accounts' | 'keys'>
          label={t('show')}
          value={tab}
          options={[
            ['accounts', t('accounts')],
            ['keys', t('keys')],
          ]}
          onChange={(next) => void navigate({ to: '/limits', search: { tab: next } })}
        />
      }
    >
      <section className="panel" aria-label={t('list')}>
        {tab === 'accounts' ? (
          <Loaded of={accounts}>{(rows) => <LimitTable rows={rows} to="/accounts" />}</Loaded>
        ) : (
          <Loaded of={keys}>{(rows) => <LimitTable rows={rows} to="/keys" />}</Loaded>
        )}
      </section>
    </Page>
  );
}

function LimitTable({ rows, to }: { rows: readonly Row[]; to: '/accounts' | '/keys' }) {
  const t = useWords(words);
  const c = useWords(common);
  if (rows.length === 0) return <Empty icon="limits" title={t('emptyTitle')} />;
  const columns: Column<Row>[] = [
    {
      id: 'name',
      head: c('name'),
      cell: ({ id, name }) => (
        <Link className="strong" to={to} search={{ open: id }}>
          {name}
        </Link>
      ),
    },
    {
      id: 'requests',
      head: t('requests'),
      drop: 'p1',
      num: true,
      dim: true,
      cell: ({ requestsPerMinute }) => count(requestsPerMinute),
    },
    {
      id: 'tokens',
      head: t('tokens'),
      drop: 'p2',
      num: true,
      dim: true,
      cell: ({ tokensPerMinute }) => count(tokensPerMinute),
    },
    {
      id: 'concurrency',
      head: t('concurrency'),
      drop: 'p2',
      num: true,
      dim: true,
      cell: ({ concurrency }) => count(concurrency),
    },
    { id: 'day', head: t('day'), drop: 'p1', num: true, cell: ({ budget }) => shortMoney(budget?.day) },
    { id: 'month', head: t('month'), num: true, cell: ({ budget }) => shortMoney(budget?.month) },
    { id: 'total', head: t('total'), drop: 'p1', num: true, cell: ({ budget }) => shortMoney(budget?.total) },
  ];
  return <Table label={t('list')} columns={columns} rows={rows} rowKey={({ id }) => id} />;
}
