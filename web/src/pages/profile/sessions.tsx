/** One's own sessions. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ask } from '../../api/client.ts';
import type { Page } from '../../api/types.ts';
import { fullTime } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Ago, Panel, Status, useNow } from '../../parts/basic.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import { words } from './words.ts';

interface SessionRow {
  id: string;
  way: string;
  at: string;
  seenAt: string;
  endsAt: string;
  address: string;
  agent: string;
  current: boolean;
}

export function Sessions() {
  const t = useWords(words);
  const c = useWords(common);
  const client = useQueryClient();
  const now = useNow();
  const ending = useSaving();
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => ask<Page<SessionRow>>('/console/api/sessions') });
  const end = (path: string) =>
    ending.run(async () => {
      await ask(path, { method: 'DELETE' });
      await client.invalidateQueries({ queryKey: ['sessions'] });
    });
  const columns: Column<SessionRow>[] = [
    {
      id: 'way',
      head: t('session'),
      cell: ({ way, agent }) => (
        <>
          <span className="strong">{way}</span>
          <span className="sub">{agent}</span>
        </>
      ),
    },
    { id: 'address', head: t('address'), drop: 'p1', dim: true, cell: ({ address }) => address },
    { id: 'seen', head: t('seen'), drop: 'p1', dim: true, cell: ({ seenAt }) => <Ago at={seenAt} now={now} /> },
    {
      id: 'act',
      head: <span className="off">{c('actions')}</span>,
      num: true,
      cell: ({ id, at, current }) =>
        current ? (
          <Status s="ok">{t('current1')}</Status>
        ) : (
          <button
            type="button"
            className="btn"
            aria-label={t('endOne', { at: fullTime(at) })}
            onClick={() => void end(`/console/api/sessions/${id}`)}
          >
            {t('end')}
          </button>
        ),
    },
  ];
  return (
    <Panel
      title={t('sessions')}
      id="p-sessions"
      beside={
        <button type="button" className="btn" onClick={() => void end('/console/api/sessions')}>
          {t('endOthers')}
        </button>
      }
    >
      <Loaded of={sessions} bones={3}>
        {({ data }) => <Table label={t('sessions')} columns={columns} rows={data} rowKey={({ id }) => id} />}
      </Loaded>
      <FormError error={ending.error} isOnce />
    </Panel>
  );
}
