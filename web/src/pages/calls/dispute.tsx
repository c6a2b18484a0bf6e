import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import type { Receipt } from '../../api/types.ts';
import { exactMoney } from '../../format/money.ts';
import { useWords } from '../../i18n/words.ts';
import { FormError } from '../../parts/states.tsx';
import { words } from './words.ts';

/** A provider's report that the gateway doubts: an admin accepts or rejects it. */
export function Dispute({ receipt }: { receipt: Receipt }) {
  const t = useWords(words);
  const may = useMay();
  const client = useQueryClient();
  const [error, setError] = useState<unknown>();
  const { dispute, id } = receipt;
  if (!dispute) return null;
  const decide = async (decision: 'accept' | 'reject') => {
    try {
      await ask(`/admin/v1/calls/${encodeURIComponent(id)}/dispute`, { method: 'POST', body: { decision } });
      await client.invalidateQueries({ queryKey: ['receipt', id] });
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <section aria-labelledby="r-dis">
      <h2 id="r-dis">{t('dispute')}</h2>
      <p>{t('disputeText', { claimed: exactMoney(dispute.claimed), charged: exactMoney(dispute.charged) })}</p>
      {dispute.decision === undefined && may('money:write') && (
        <div className="row" style={{ marginBlockStart: '.5rem' }}>
          <button type="button" className="btn" onClick={() => void decide('accept')}>
            {t('accept')}
          </button>
          <button type="button" className="btn" onClick={() => void decide('reject')}>
            {t('reject')}
          </button>
        </div>
      )}
      <FormError error={error} />
    </section>
  );
}
