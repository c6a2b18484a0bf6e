/** The warning about a balance that will soon be used up. */
import type { Account } from '../../api/types.ts';
import { compareMoney, shortMoney } from '../../format/money.ts';
import { fullTime } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Icon } from '../../parts/icon.tsx';
import { lastsUntil } from './lasts.ts';
import { useOwnUsage } from './use-home.ts';
import { words } from './words.ts';

/** A warning while the balance lasts less than a week. */
export function BalanceNote({ account, onRedeem }: { account: Account; onRedeem: () => void }) {
  const t = useWords(words);
  const spent = useOwnUsage('hour', '24h').data?.total.cost ?? '0';
  const isEmpty = compareMoney(account.available, '0') <= 0;
  const lasts = lastsUntil(account.available, spent, Date.now());
  if (!isEmpty && !lasts) return null;
  return (
    <div className="note" data-s="warn">
      <Icon name="warn" />
      <div>
        {isEmpty || !lasts ? (
          <strong>{t('emptyBalance')}</strong>
        ) : (
          <>
            <strong>{t('lasts', { n: lasts.days })}</strong>{' '}
            {t('lastsText', {
              spent: shortMoney(spent),
              balance: shortMoney(account.available),
              until: fullTime(lasts.until.getTime()),
            })}
          </>
        )}
      </div>
      <button type="button" className="btn" onClick={onRedeem}>
        {t('redeem')}
      </button>
    </div>
  );
}
