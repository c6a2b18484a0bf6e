/** The tables of the overview: models, accounts, keys and tokens. */
import { Link } from '@tanstack/react-router';
import { useAccounts } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Overview, OverviewFigures } from '../../api/types.ts';
import { sharePercent, shortMoney } from '../../format/money.ts';
import { count, duration, percent, tokens } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Panel, Share } from '../../parts/basic.tsx';
import { firstWords } from '../../parts/first-words.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { kindsOf } from './kinds.ts';
import { words } from './words.ts';

type ModelLine = Overview['models'][number];
type AccountLine = Overview['accounts'][number];
type KeyLine = Overview['keys'][number];

/** What keys and accounts have in firstWords: calls, the bar, the money. */
function useSpendColumns<Row extends { calls: number; spend: string }>(rows: readonly Row[]) {
  const c = useWords(firstWords);
  const most = rows[0]?.spend ?? '0';
  const calls: Column<Row> = {
    id: 'calls',
    head: c('calls'),
    num: true,
    drop: 'p1',
    cell: ({ calls }) => count(calls),
  };
  const share: Column<Row> = {
    id: 'share',
    head: <span className="off">{c('share')}</span>,
    drop: 'p3',
    cell: ({ spend }) => <Share percent={sharePercent(spend, most)} />,
  };
  const spend: Column<Row> = {
    id: 'spend',
    head: c('spend'),
    num: true,
    className: 'strong',
    cell: ({ spend }) => shortMoney(spend),
  };
  return { calls, share, spend };
}

export function ModelsPanel({ models }: { models: readonly ModelLine[] }) {
  const t = useWords(words);
  const c = useWords(firstWords);
  const { calls, share, spend } = useSpendColumns(models);
  const columns: Column<ModelLine>[] = [
    {
      id: 'model',
      head: c('model'),
      cell: ({ model, calls }) => (
        <>
          <Link className="strong" to="/calls" search={{ model }}>
            {model}
          </Link>
          <span className="sub only-narrow">{count(calls)}</span>
        </>
      ),
    },
    calls,
    {
      id: 'errors',
      head: t('errors'),
      num: true,
      drop: 'p2',
      dim: true,
      cell: ({ errorRate }) => percent(errorRate, 2),
    },
    {
      id: 'first',
      head: t('first'),
      num: true,
      drop: 'p2',
      dim: true,
      cell: ({ firstTokenMs }) => duration(firstTokenMs?.p50),
    },
    share,
    spend,
  ];
  return (
    <Panel title={t('models')} id="c-models" width={6} beside={<Link to="/models">{t('allModels')}</Link>}>
      {models.length === 0 ? (
        <Nothing />
      ) : (
        <Table label={t('models')} columns={columns} rows={models} rowKey={({ model }) => model} />
      )}
    </Panel>
  );
}

export function AccountsPanel({ accounts }: { accounts: readonly AccountLine[] }) {
  const t = useWords(words);
  const c = useWords(firstWords);
  const may = useMay();
  const known = new Map(useAccounts(may('accounts:read')).data?.map((account) => [account.id, account]));
  const { calls, share, spend } = useSpendColumns(accounts);
  const columns: Column<AccountLine>[] = [
    {
      id: 'account',
      head: c('account'),
      cell: ({ account, name }) => (
        <Link className="strong" to="/accounts" search={{ open: account }}>
          {name ?? account}
        </Link>
      ),
    },
    { ...calls, dim: true },
    {
      id: 'balance',
      head: c('balance'),
      num: true,
      dim: true,
      cell: ({ account }) => shortMoney(known.get(account)?.available),
    },
    { ...share, drop: 'p1' },
    spend,
  ];
  return (
    <Panel title={t('accounts')} id="c-acc" width={6} beside={<Link to="/accounts">{t('allAccounts')}</Link>}>
      {accounts.length === 0 ? (
        <Nothing />
      ) : (
        <Table label={t('accounts')} columns={columns} rows={accounts} rowKey={({ account }) => account} />
      )}
    </Panel>
  );
}

export function KeysPanel({ keys }: { keys: readonly KeyLine[] }) {
  const t = useWords(words);
  const c = useWords(firstWords);
  const { calls, share, spend } = useSpendColumns(keys);
  const columns: Column<KeyLine>[] = [
    {
      id: 'key',
      head: c('key'),
      cell: ({ key, name }) => (
        <Link className="strong" to="/keys" search={{ open: key }}>
          {name ?? key}
        </Link>
      ),
    },
    calls,
    { id: 'tokens', head: c('tokens'), num: true, drop: 'p2', dim: true, cell: (row) => tokens(row.tokens) },
    share,
    spend,
  ];
  return (
    <Panel title={t('keys')} id="c-keys" width={6} beside={<Link to="/keys">{t('allKeys')}</Link>}>
      {keys.length === 0 ? (
        <Nothing />
      ) : (
        <Table label={t('keys')} columns={columns} rows={keys} rowKey={({ key }) => key} />
      )}
    </Panel>
  );
}

function Nothing() {
  const t = useWords(words);
  return (
    <div className="in">
      <p className="dim">{t('none')}</p>
    </div>
  );
}

const COLOURS = { cachedInput: '--c1', input: '--c2', cacheWrite: '--c3', output: '--c4', reasoning: '--c5' } as const;

export function TokensPanel({ figures }: { figures: OverviewFigures }) {
  const t = useWords(words);
  const c = useWords(firstWords);
  const { kinds, total } = kindsOf(figures);
  const names = {
    cachedInput: t('cachedInput'),
    input: t('input'),
    cacheWrite: t('cacheWrite'),
    output: t('output'),
    reasoning: t('reasoning'),
  };
  return (
    <Panel title={t('tokensByKind')} id="c-tok" width={6} beside={<span className="dim">{tokens(total)}</span>}>
      <div className="in">
        {total === 0 ? (
          <p className="dim">{t('none')}</p>
        ) : (
          <>
            <div className="stack" aria-hidden="true">
              {kinds.map(([kind, amount]) => (
                <i key={kind} style={{ '--k': `var(${COLOURS[kind]})`, '--p': `${(amount / total) * 100}%` }} />
              ))}
            </div>
            <table className="mini" style={{ marginBlockStart: '.75rem' }}>
              <thead>
                <tr>
                  <th>{t('kind')}</th>
                  <th className="num">{c('share')}</th>
                  <th className="num">{c('tokens')}</th>
                </tr>
              </thead>
              <tbody>
                {kinds.map(([kind, amount]) => (
                  <tr key={kind}>
                    <td>
                      <span className="key" style={{ '--k': `var(${COLOURS[kind]})` }} />
                      {names[kind]}
                    </td>
                    <td className="num dim">{percent(amount / total)}</td>
                    <td className="num dim">{tokens(amount)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        )}
      </div>
    </Panel>
  );
}
