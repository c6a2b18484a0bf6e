/** The decision about a disputed call. */
import { useQueryClient } from '@tanstack/react-query';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Receipt } from '../../api/types.ts';
import { exactMoney } from '../../format/amounts.ts';
import { useWords } from '../../i18n/words.ts';
import { FormError } from '../../parts/form-error.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { words } from './words.ts';

/** A provider's report that the gateway doubts: an admin accepts or rejects it. */
export function Dispute({ receipt }: { receipt: Receipt }) {
  const t = useWords(words);
  const may = useMay();
  const client = useQueryClient();
  const deciding = useSaving();
  const { dispute, id } = receipt;
  if (!dispute) return null;
  const decide = async (decision: Decision) => {
    await ask(`/admin/v1/calls/${encodeURIComponent(id)}/dispute`, { method: 'POST', body: { decision } });
    await refresh(client, 'receipt', 'calls');
  };
  return (
    <section aria-labelledby="r-dis">
      <h2 id="r-dis">{t('dispute')}</h2>
      <p>{t('disputeText', { claimed: exactMoney(dispute.claimed), charged: exactMoney(dispute.charged) })}</p>
      {dispute.decision === undefined && may('money:write') && (
        <Decide busy={deciding.busy} onDecide={(decision) => void deciding.run(() => decide(decision))} />
      )}
      <FormError error={deciding.error} />
    </section>
  );
}

type Decision = 'accept' | 'reject';

/** The buttons of a decision, which is made once. */
export function Decide({ busy, onDecide }: { busy: boolean; onDecide: (decision: Decision) => void }) {
  const t = useWords(words);
  return (
    <div className="row" style={{ marginBlockStart: '.5rem' }}>
      {(['accept', 'reject'] as const).map((decision) => (
        <button key={decision} type="button" className="btn" disabled={busy} onClick={() => onDecide(decision)}>
          {t(decision)}
        </button>
      ))}
    </div>
  );
}
