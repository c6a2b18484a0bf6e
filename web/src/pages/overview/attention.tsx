/** What needs an operator now. */
import { Link } from '@tanstack/react-router';
import { useAccounts, useHealth } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Overview } from '../../api/types.ts';
import { compareMoney, shortMoney } from '../../format/money.ts';
import { ago, count, percent } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Panel, Status } from '../../parts/basic.tsx';
import { firstWords } from '../../parts/first-words.ts';
import { isCooling } from '../providers/health.ts';
import { words } from './words.ts';

const LOW = '1';
const MOST = 5;

/** Targets in cooldown, accounts that run dry, holds that are open. */
export function Attention({ holds }: { holds: Overview['holds'] }) {
  const t = useWords(words);
  const c = useWords(firstWords);
  const may = useMay();
  const health = useHealth(may('supply:read')).data ?? [];
  const accounts = useAccounts(may('accounts:read')).data ?? [];
  const cooling = health.filter(isCooling).slice(0, MOST);
  const low = accounts
    .filter(({ available, disabledAt }) => !disabledAt && compareMoney(available, LOW) < 0)
    .slice(0, MOST);
  const hasHolds = holds.open > 0;
  const items = cooling.length + low.length + (hasHolds ? 1 : 0);
  return (
    <Panel title={t('attention')} id="c-todo" width={4} beside={<span className="dimmer">{items}</span>}>
      <div className="in">
        {items === 0 && <p className="dim">{t('allGood')}</p>}
        <ul className="todo">
          {cooling.map(({ id, provider, errorRate }) => (
            <li key={id}>
              <div>
                <Status s="bad">{t('cooling')}</Status>
                <p className="dim">{t('coolingText', { id, rate: percent(errorRate) })}</p>
              </div>
              <Link to="/providers" search={{ open: provider }}>
                {c('open')}
              </Link>
            </li>
          ))}
          {low.map(({ id, name, available }) => (
            <li key={id}>
              <div>
                <Status s="warn">{t('lowBalance')}</Status>
                <p className="dim">{t('lowText', { name, amount: shortMoney(available) })}</p>
              </div>
              <Link to="/accounts" search={{ open: id }}>
                {may('money:write') ? t('topUp') : c('open')}
              </Link>
            </li>
          ))}
          {hasHolds && (
            <li>
              <div>
                <Status s="idle">{t('holds')}</Status>
                <p className="dim">
                  {t('holdsText', {
                    n: count(holds.open),
                    amount: shortMoney(holds.amount),
                    age: ago(holds.oldestAt ?? '', Date.now()),
                  })}
                </p>
              </div>
              <Link to="/accounts">{t('view')}</Link>
            </li>
          )}
        </ul>
      </div>
    </Panel>
  );
}
