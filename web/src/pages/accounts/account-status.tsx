/** Whether an account can pay. */
import type { Account } from '../../api/types.ts';
import { compareMoney } from '../../format/money.ts';
import { useWords } from '../../i18n/words.ts';
import { Status } from '../../parts/basic.tsx';
import { common } from '../../parts/words.ts';
import { words } from './words.ts';

/** Below this an account is marked; what is low for one is plenty for another, so it is only a hint. */
const LOW = '1';

export function AccountStatus({ of }: { of: Account }) {
  const t = useWords(words);
  const c = useWords(common);
  if (of.disabledAt) return <Status s="idle">{c('disabled')}</Status>;
  if (compareMoney(of.available, '0') <= 0) return <Status s="bad">{t('empty')}</Status>;
  if (compareMoney(of.available, LOW) < 0) return <Status s="warn">{t('low')}</Status>;
  return <Status s="ok">{t('active')}</Status>;
}
