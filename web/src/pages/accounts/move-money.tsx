/** The form for a top-up, a refund or an adjustment. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { useOnce } from '../../api/once.ts';
import { refresh } from '../../api/queries.ts';
import type { Entry } from '../../api/types.ts';
import { exactMoney, readAmount } from '../../format/amounts.ts';
import { useWords } from '../../i18n/words.ts';
import { Note } from '../../parts/basic.tsx';
import { Field, Select } from '../../parts/form.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import { words } from './words.ts';

type Act = 'top-ups' | 'refunds' | 'adjustments';

/** An adjustment may take money away; the others are positive. */
export function readMoved(typed: string, act: Act): string | undefined {
  const text = typed.trim().replace('−', '-');
  const isNegative = act === 'adjustments' && text.startsWith('-');
  const amount = readAmount(isNegative ? text.slice(1) : text);
  if (amount === undefined || /^0*(\.0*)?$/.test(amount)) return undefined;
  return isNegative ? `-${amount}` : amount;
}

export function MoveMoney({ path }: { path: string }) {
  const t = useWords(words);
  const c = useWords(common);
  const client = useQueryClient();
  const [act, setAct] = useState<Act>('top-ups');
  const [typed, setTyped] = useState('');
  const [note, setNote] = useState('');
  // A click after a lost answer does not move the money twice.
  const { headers, renew } = useOnce();
  const [entered, setEntered] = useState<Entry>();
  const saving = useSaving();
  const amount = readMoved(typed, act);
  const move = async () => {
    const body = { amount, ...(note !== '' && { note }) };
    setEntered(await ask<Entry>(`${path}/${act}`, { method: 'POST', body, headers }));
    renew();
    setTyped('');
    setNote('');
    await refresh(client, 'accounts', 'account', 'entries');
  };
  const change = (set: (value: string) => void) => (value: string) => {
    setEntered(undefined);
    renew();
    set(value);
  };
  return (
    <section aria-labelledby="a-money">
      <h2 id="a-money">{t('money')}</h2>
      <form className="form" onSubmit={saving.submit(move)}>
        <div className="two">
          <Select label={t('act')} value={act} onText={change((value) => setAct(value as Act))}>
            <option value="top-ups">{t('topup')}</option>
            <option value="refunds">{t('refund')}</option>
            <option value="adjustments">{t('adjust')}</option>
          </Select>
          <Field
            label={c('amount')}
            hint={t('amountHint')}
            error={typed !== '' && amount === undefined ? t('notAmount') : undefined}
            inputMode="decimal"
            required
            value={typed}
            onText={change(setTyped)}
          />
        </div>
        <Field label={t('note')} value={note} onText={change(setNote)} />
        <FormError error={saving.error} isOnce />
        {entered && (
          <Note s="ok">
            {t('entered', { amount: exactMoney(entered.amount), balance: exactMoney(entered.balanceAfter) })}
          </Note>
        )}
        <div className="row">
          <button type="submit" className="btn go" disabled={amount === undefined || saving.busy}>
            {act === 'top-ups' ? t('topup') : act === 'refunds' ? t('refund') : t('adjust')}
          </button>
        </div>
      </form>
    </section>
  );
}
