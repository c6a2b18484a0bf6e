/** The channels that alerts are sent to: testing, removing and adding one. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh, useRows } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { useWords } from '../../i18n/words.ts';
import { Note, Panel } from '../../parts/basic.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import { useActionsColumn } from './actions-column.tsx';
import { NewChannel } from './new-channel.tsx';
import { words } from './words.ts';

interface Channel {
  id: string;
  name: string;
  type: string;
  url?: string;
  to?: string[];
  enabled: boolean;
}

const PATH = '/admin/v1/alerts/channels';

export function Channels() {
  const t = useWords(words);
  const c = useWords(common);
  const may = useMay();
  const client = useQueryClient();
  const acting = useSaving();
  const [tested, setTested] = useState(false);
  const [removing, setRemoving] = useState<Channel>();
  const channels = useRows<Channel>('channels', PATH);
  const test = async ({ id }: Channel) => {
    setTested(false);
    const { sent, error } = await ask<{ sent: boolean; error?: string }>(`${PATH}/${id}/test`, {
      method: 'POST',
      body: {},
    });
    if (!sent) throw new Error(error);
    setTested(true);
  };
  const remove = async () => {
    await ask(`${PATH}/${removing?.id}`, { method: 'DELETE' });
    await refresh(client, 'channels');
  };
  const actions = useActionsColumn<Channel>((row) => (
    <>
      <button
        type="button"
        className="btn"
        aria-label={t('testOf', { name: row.name })}
        disabled={acting.busy}
        onClick={() => void acting.run(() => test(row))}
      >
        {t('test')}
      </button>{' '}
      <button
        type="button"
        className="btn"
        aria-label={t('removeOf', { name: row.name })}
        onClick={() => setRemoving(row)}
      >
        {t('remove')}
      </button>
    </>
  ));
  const columns: Column<Channel>[] = [
    { id: 'name', head: c('name'), className: 'strong', cell: ({ name }) => name },
    { id: 'type', head: t('type'), drop: 'p1', dim: true, cell: ({ type }) => type },
    { id: 'to', head: t('to'), drop: 'p2', dim: true, cell: ({ url, to }) => to?.join(', ') ?? url ?? '–' },
    actions,
  ];
  return (
    <>
      <Panel title={t('channels')} id="al-channels">
        <Loaded of={channels}>
          {(rows) => (
            <Table
              label={t('channels')}
              columns={columns}
              rows={rows}
              rowKey={({ id }) => id}
              empty={<Empty icon="alerts" title={t('noChannels')} />}
            />
          )}
        </Loaded>
      </Panel>
      <FormError error={acting.error} />
      {tested && <Note s="ok">{t('tested')}</Note>}
      {may('alerts:write') && <NewChannel />}
      {removing && (
        <Confirm
          title={t('removeOf', { name: removing.name })}
          effect={t('removeText')}
          action={t('remove')}
          name={removing.name}
          onConfirm={remove}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </>
  );
}
