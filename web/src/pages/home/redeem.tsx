import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/client.ts';
import { exactMoney } from '../../format/money.ts';
import { useWords } from '../../i18n/words.ts';
import { Note } from '../../parts/basic.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/states.tsx';
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
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      setRedeemed(await ask<Redeemed>('/console/api/account/redeem', { method: 'POST', body: { code: code.trim() } }));
      setError(undefined);
      setCode('');
      await client.invalidateQueries({ queryKey: ['own-account'] });
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <Dialog title={t('redeem')} onClose={onClose} width="26rem">
      <form className="form" onSubmit={submit}>
        <Field
          label={t('code')}
          required
          autoComplete="off"
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
        <FormError error={error} />
        {redeemed && (
          <Note s="ok">
            {t('redeemDone', {
              amount: exactMoney(redeemed.amount),
              balance: exactMoney(redeemed.available ?? redeemed.balanceAfter),
            })}
          </Note>
        )}
        <div className="row">
          <button type="submit" className="btn go">
            {t('redeem')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
