/** The dialog that redeems a code. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { exactMoney } from '../../format/amounts.ts';
import { useWords } from '../../i18n/words.ts';
import { Note } from '../../parts/basic.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { words } from './words.ts';

interface Redeemed {
  amount: string;
  available?: string;
  balanceAfter?: string;
}

export function Redeem({ onClose }: { onClose: () => void }) {
  const t = useWords(words);
  const client = useQueryClient();
  const [code, setCode] = useState('');
  const [redeemed, setRedeemed] = useState<Redeemed>();
  const saving = useSaving();
  const redeem = async () => {
    const body = { code: code.trim() };
    setRedeemed(await ask<Redeemed>('/console/api/account/redeem', { method: 'POST', body }));
    setCode('');
    await client.invalidateQueries({ queryKey: ['own-account'] });
  };
  return (
    <Dialog title={t('redeem')} onClose={onClose} width="26rem">
      <form className="form" onSubmit={saving.submit(redeem)}>
        <Field label={t('code')} required autoComplete="off" value={code} onText={setCode} />
        <FormError error={saving.error} />
        {redeemed && (
          <Note s="ok">
            {t('redeemDone', {
              amount: exactMoney(redeemed.amount),
              balance: exactMoney(redeemed.available ?? redeemed.balanceAfter),
            })}
          </Note>
        )}
        <div className="row">
          <button type="submit" className="btn go" disabled={saving.busy}>
            {t('redeem')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
