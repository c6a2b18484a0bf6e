/** Redemption codes: made here, shown once, redeemed by members. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { useOnce } from '../../api/once.ts';
import { refresh, useAccounts } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { exactMoney, readAmount } from '../../format/amounts.ts';
import { dateOf, endOfDay } from '../../format/dates.ts';
import { fullTime } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Ago, Note, Status, useNow } from '../../parts/basic.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Field } from '../../parts/form.tsx';
import { AddButton, ListPage, PagedRows, useListAddress } from '../../parts/list-page.tsx';
import { SaveRow } from '../../parts/save-row.tsx';
import { Empty } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
import { usePage } from '../../parts/use-page.ts';
import { useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import { words } from './words.ts';

interface Code {
  id: string;
  last4: string;
  amount: string;
  note?: string;
  createdAt: string;
  expiresAt?: string;
  redeemedAt?: string;
  redeemedBy?: string;
}

export function CodesPage() {
  const t = useWords(words);
  const may = useMay();
  const address = useListAddress('/codes');
  const { opened, listed, go } = address;
  const codes = usePage<Code>('codes', '/admin/v1/codes', { after: listed.after });
  const columns = useColumns();
  return (
    <ListPage
      title={t('title')}
      label={t('list')}
      actions={may('money:write') && <AddButton text={t('create')} onClick={() => go({ open: 'new' })} />}
      drawer={opened === 'new' && may('money:write') && <NewCode onClose={() => go({})} />}
    >
      <PagedRows
        of={codes}
        address={address}
        label={t('list')}
        columns={columns}
        empty={<Empty icon="codes" title={t('emptyTitle')} text={t('emptyText')} />}
      />
    </ListPage>
  );
}

function useColumns(): Column<Code>[] {
  const t = useWords(words);
  const c = useWords(common);
  const now = useNow();
  const may = useMay();
  const accounts = useAccounts(may('accounts:read')).data ?? [];
  const status = ({ redeemedAt, expiresAt }: Code) => {
    if (redeemedAt) return <Status s="idle">{t('redeemed')}</Status>;
    if (expiresAt && Date.parse(expiresAt) < now) return <Status s="idle">{t('expired')}</Status>;
    return <Status s="ok">{t('open')}</Status>;
  };
  return [
    { id: 'code', head: t('code'), className: 'mono', cell: ({ last4 }) => `…${last4}` },
    { id: 'status', head: c('status'), cell: status },
    { id: 'note', head: t('note'), drop: 'p2', dim: true, cell: ({ note }) => note ?? '–' },
    {
      id: 'by',
      head: t('redeemedBy'),
      drop: 'p2',
      dim: true,
      cell: ({ redeemedBy }) => accounts.find(({ id }) => id === redeemedBy)?.name ?? redeemedBy ?? '–',
    },
    {
      id: 'expires',
      head: t('expires'),
      drop: 'p3',
      dim: true,
      cell: ({ expiresAt }) =>
        expiresAt ? (
          <time dateTime={expiresAt} title={fullTime(expiresAt)}>
            {dateOf(expiresAt)}
          </time>
        ) : (
          '–'
        ),
    },
    {
      id: 'created',
      head: c('created'),
      drop: 'p1',
      dim: true,
      cell: ({ createdAt }) => <Ago at={createdAt} now={now} />,
    },
    { id: 'amount', head: c('amount'), num: true, cell: ({ amount }) => exactMoney(amount) },
  ];
}

function NewCode({ onClose }: { onClose: () => void }) {
  const t = useWords(words);
  const c = useWords(common);
  const client = useQueryClient();
  const saving = useSaving();
  const [amount, setAmount] = useState('');
  const [note, setNote] = useState('');
  const [expires, setExpires] = useState('');
  const [made, setMade] = useState<string>();
  // A click after a lost answer shows the same code: money is not given away twice.
  const { headers, renew } = useOnce();
  const read = readAmount(amount);
  const create = async () => {
    const body = {
      amount: read,
      ...(note !== '' && { note }),
      ...(expires !== '' && { expiresAt: endOfDay(expires).toISOString() }),
    };
    const { code } = await ask<{ code: string }>('/admin/v1/codes', { method: 'POST', body, headers });
    setMade(code);
    renew();
    setAmount('');
    await refresh(client, 'codes');
  };
  return (
    <Drawer title={t('create')} onClose={onClose}>
      <section>
        <form className="form" onSubmit={saving.submit(create)} onChange={renew}>
          <Field
            label={c('amount')}
            inputMode="decimal"
            required
            value={amount}
            error={amount !== '' && read === undefined ? t('notAmount') : undefined}
            onText={setAmount}
          />
          <Field label={t('note')} value={note} onText={setNote} />
          <Field label={t('expires')} hint={c('endOfDay')} type="date" value={expires} onText={setExpires} />
          <SaveRow saving={saving} label={t('create')} disabled={read === undefined} isOnce />
        </form>
        {made && (
          <div className="gap" style={{ marginBlockStart: '1rem' }}>
            <Note s="ok">{t('once')}</Note>
            <div className="secret">
              <code>{made}</code>
              <CopyButton text={made} />
            </div>
          </div>
        )}
      </section>
    </Drawer>
  );
}
