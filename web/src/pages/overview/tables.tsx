import { Link } from '@tanstack/react-router';
import { useAccounts } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { CallRow, UsageGroup, UsageReport } from '../../api/types.ts';
import { compareMoney, sharePercent, shortMoney } from '../../format/money.ts';
import { count, percent, tokens } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Panel, Share } from '../../parts/basic.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';
import { kindsOf } from './kinds.ts';
import { words } from './words.ts';

const SHOWN = 6;

/** The groups with the highest spending first. */
export const topGroups = ({ data }: UsageReport): readonly UsageGroup[] =>
  [...data].sort((a, b) => compareMoney(b.cost, a.cost)).slice(0, SHOWN);

export function ModelsPanel({ report }: { report: UsageReport }) {
  const t = useWords(words);
  const c = useWords(common);
  const rows = topGroups(report);
  const most = rows[0]?.cost ?? '0';
  const columns: Column<UsageGroup>[] = [
    {
      id: 'model',
      head: c('model'),
      cell: ({ group, calls }) => (
        <>
          <Link className="strong" to="/calls" search={{ model: group }}>
            {group}
          </Link>
          <span className="sub only-narrow">{count(calls)}</span>
        </>
      ),
    },
    { id: 'calls', head: c('calls'), num: true, drop: 'p1', cell: ({ calls }) => count(calls) },
    {
      id: 'tokens',
      head: c('tokens'),
      num: true,
      drop: 'p2',
      dim: true,
      cell: (row) => tokens(row.input_tokens + row.output_tokens),
    },
    {
      id: 'share',
      head: <span className="off">{c('share')}</span>,
      drop: 'p3',
      cell: ({ cost }) => <Share percent={sharePercent(cost, most)} />,
    },
    { id: 'spend', head: c('spend'), num: true, className: 'strong', cell: ({ cost }) => shortMoney(cost) },
  ];
  return (
    <Panel title={t('models')} id="c-models" width={6} beside={<Link to="/models">{t('allModels')}</Link>}>
      {rows.length === 0 ? (
        <Nothing />
      ) : (
        <Table label={t('models')} columns={columns} rows={rows} rowKey={({ group }) => group} />
      )}
    </Panel>
  );
}

export function AccountsPanel({ report }: { report: UsageReport }) {
  const t = useWords(words);
  const c = useWords(common);
  const may = useMay();
  const accounts = new Map(useAccounts(may('accounts:read')).data?.map((account) => [account.id, account]));
  const rows = topGroups(report);
  const most = rows[0]?.cost ?? '0';
  const columns: Column<UsageGroup>[] = [
    {
      id: 'account',
      head: c('account'),
      cell: ({ group }) => (
        <Link className="strong" to="/accounts" search={{ open: group }}>
          {accounts.get(group)?.name ?? group}
        </Link>
      ),
    },
    { id: 'calls', head: c('calls'), num: true, drop: 'p1', dim: true, cell: ({ calls }) => count(calls) },
    {
      id: 'balance',
      head: c('balance'),
      num: true,
      dim: true,
      cell: ({ group }) => shortMoney(accounts.get(group)?.available),
    },
    {
      id: 'share',
      head: <span className="off">{c('share')}</span>,
      drop: 'p1',
      cell: ({ cost }) => <Share percent={sharePercent(cost, most)} />,
    },
    { id: 'spend', head: c('spend'), num: true, className: 'strong', cell: ({ cost }) => shortMoney(cost) },
  ];
  return (
    <Panel title={t('accounts')} id="c-acc" width={6} beside={<Link to="/accounts">{t('allAccounts')}</Link>}>
      {rows.length === 0 ? (
        <Nothing />
      ) : (
        <Table label={t('accounts')} columns={columns} rows={rows} rowKey={({ group }) => group} />
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

export function TokensPanel({ calls }: { calls: readonly CallRow[] }) {
  const t = useWords(words);
  const c = useWords(common);
  const { kinds, total } = kindsOf(calls);
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
