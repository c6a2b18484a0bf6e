/** The panels of a member's first page: keys, and usage by model. */
import { Link } from '@tanstack/react-router';
import { useKeys } from '../../api/queries.ts';
import { sharePercent, shortMoney } from '../../format/money.ts';
import { count } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Panel, Share, useNow } from '../../parts/basic.tsx';
import type { Period } from '../../parts/filters.ts';
import { Loaded } from '../../parts/states.tsx';
import { common } from '../../parts/words.ts';
import { KeyStatus } from '../keys/key-status.tsx';
import { topGroups } from './buckets.ts';
import { useOwnUsage } from './use-home.ts';
import { words } from './words.ts';

const SHOWN = 5;

export function YourKeys() {
  const t = useWords(words);
  const keys = useKeys();
  const now = useNow();
  return (
    <Panel title={t('yourKeys')} id="m-k" width={4} beside={<Link to="/keys">{t('allKeys')}</Link>}>
      <div className="in">
        <Loaded of={keys} bones={3}>
          {(rows) =>
            rows.length === 0 ? (
              <p className="dim">{t('noKeys')}</p>
            ) : (
              <ul className="keys">
                {rows.slice(0, SHOWN).map((key) => (
                  <li key={key.id}>
                    <span>
                      <span className="strong">{key.name}</span> <span className="mono dimmer">sk-…{key.last4}</span>
                    </span>
                    <KeyStatus of={key} now={now} />
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </div>
    </Panel>
  );
}

export function ByModel({ period }: { period: Period }) {
  const t = useWords(words);
  const c = useWords(common);
  const usage = useOwnUsage('model', period);
  return (
    <Panel title={t('byModel')} id="m-m" width={4}>
      <div className="in">
        <Loaded of={usage} bones={3}>
          {(report) => {
            const rows = topGroups(report);
            const most = rows[0]?.cost ?? '0';
            return (
              <table className="mini">
                <thead>
                  <tr>
                    <th>{c('model')}</th>
                    <th className="num">{c('calls')}</th>
                    <th className="num">{c('spend')}</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map(({ group, calls, cost }) => (
                    <tr key={group}>
                      <td>
                        {group}
                        <Share percent={sharePercent(cost, most)} />
                      </td>
                      <td className="num dim">{count(calls)}</td>
                      <td className="num">{shortMoney(cost)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            );
          }}
        </Loaded>
      </div>
    </Panel>
  );
}
