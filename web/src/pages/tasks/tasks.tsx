/** Video tasks of an account: their state, and a player for those that are finished. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useAccounts } from '../../api/queries.ts';
import { useMay, useSession } from '../../api/session.ts';
import { fullTime } from '../../format/numbers.ts';
import { type Translate, useWords } from '../../i18n/words.ts';
import { Ago, Head, type State, Status, useNow } from '../../parts/basic.tsx';
import { Chip, Chips } from '../../parts/chips.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Empty, Failed, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';
import { sendAs, usePlaygroundKey } from '../playground/use-playground.ts';
import { words } from './words.ts';

interface Task {
  id: string;
  model: string;
  status: string;
  progress?: number;
  created_at: number;
  completed_at?: number;
  expires_at?: number;
  seconds?: string;
  size?: string;
  prompt?: string;
  error?: { message: string } | null;
}

const POLL_MS = 4000;
const SECOND_MS = 1000;
const route = getRouteApi('/tasks');

const timeOf = (seconds: number) => new Date(seconds * SECOND_MS).toISOString();

export function TasksPage() {
  const t = useWords(words);
  const c = useWords(common);
  const may = useMay();
  const session = useSession();
  const search = route.useSearch();
  const navigate = useNavigate();
  const accounts = useAccounts(may('accounts:read')).data ?? [];
  const account = search.account ?? session.account?.id ?? accounts[0]?.id;
  const key = usePlaygroundKey(account).data?.key;
  const tasks = useQuery({
    queryKey: ['tasks', key],
    queryFn: async () =>
      ((await (await sendAs(key as string, '/v1/videos?limit=100')).json()) as { data: Task[] }).data,
    enabled: key !== undefined,
    refetchInterval: POLL_MS,
  });
  const go = (next: typeof search) => void navigate({ to: '/tasks', search: next });
  const current = tasks.data?.find(({ id }) => id === search.open);
  const { open: _, ...listed } = search;
  return (
    <div className="split">
      <main className="page" id="main">
        <Head title={t('title')} />
        <Chips>
          <Chip
            label={c('account')}
            value={account}
            shown={accounts.find(({ id }) => id === account)?.name}
            options={accounts.map(({ id, name }) => [id, name] as const)}
            onChange={(value) => go(value === undefined ? {} : { account: value })}
          />
        </Chips>
        <section className="panel" aria-label={t('list')}>
          <Loaded of={tasks}>
            {(rows) =>
              rows.length === 0 ? (
                <Empty icon="tasks" title={t('emptyTitle')} text={t('emptyText')} />
              ) : (
                <TaskTable rows={rows} selected={search.open} onOpen={({ id }) => go({ ...listed, open: id })} />
              )
            }
          </Loaded>
        </section>
      </main>
      {current && key && (
        <Drawer key={current.id} title={current.model} sub={current.id} onClose={() => go(listed)}>
          <TaskBody task={current} playgroundKey={key} />
        </Drawer>
      )}
    </div>
  );
}

function stateOf({ status, progress }: Task, t: Translate<typeof words>): { s: State; text: string } {
  if (status === 'completed') return { s: 'ok', text: t('completed') };
  if (status === 'failed') return { s: 'bad', text: t('failed') };
  return { s: 'live', text: t('running', { n: progress ?? 0 }) };
}

function TaskTable({
  rows,
  selected,
  onOpen,
}: {
  rows: readonly Task[];
  selected: string | undefined;
  onOpen: (row: Task) => void;
}) {
  const t = useWords(words);
  const c = useWords(common);
  const now = useNow();
  const status = (row: Task) => {
    const { s, text } = stateOf(row, t);
    return <Status s={s}>{text}</Status>;
  };
  const columns: Column<Task>[] = [
    { id: 'time', head: c('time'), dim: true, cell: ({ created_at }) => <Ago at={timeOf(created_at)} now={now} /> },
    { id: 'status', head: c('status'), cell: status },
    {
      id: 'model',
      head: c('model'),
      cell: (row) => (
        <button type="button" className="link strong" onClick={() => onOpen(row)}>
          {row.model}
        </button>
      ),
    },
    { id: 'prompt', head: t('prompt'), drop: 'p2', dim: true, cell: ({ prompt }) => prompt ?? '–' },
    { id: 'seconds', head: t('seconds'), drop: 'p1', num: true, dim: true, cell: ({ seconds }) => seconds ?? '–' },
  ];
  return (
    <Table
      label={t('list')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      selected={selected}
      onOpen={onOpen}
    />
  );
}

function TaskBody({ task, playgroundKey }: { task: Task; playgroundKey: string }) {
  const t = useWords(words);
  const c = useWords(common);
  const { s, text } = stateOf(task, t);
  return (
    <section className="gap">
      {task.status === 'completed' && <Player id={task.id} playgroundKey={playgroundKey} />}
      <dl className="pairs">
        <dt>{c('status')}</dt>
        <dd>
          <Status s={s}>{text}</Status>
        </dd>
        <dt>{c('created')}</dt>
        <dd>{fullTime(timeOf(task.created_at))}</dd>
        {task.completed_at !== undefined && (
          <>
            <dt>{t('finished')}</dt>
            <dd>{fullTime(timeOf(task.completed_at))}</dd>
          </>
        )}
        {task.expires_at !== undefined && (
          <>
            <dt>{t('kept')}</dt>
            <dd>{fullTime(timeOf(task.expires_at))}</dd>
          </>
        )}
        {task.prompt && (
          <>
            <dt>{t('prompt')}</dt>
            <dd>{task.prompt}</dd>
          </>
        )}
        {task.error && (
          <>
            <dt>{t('failed')}</dt>
            <dd>{task.error.message}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Player({ id, playgroundKey }: { id: string; playgroundKey: string }) {
  const media = useQuery({
    queryKey: ['task-content', id],
    queryFn: async () => (await sendAs(playgroundKey, `/v1/videos/${encodeURIComponent(id)}/content`)).blob(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (!media.data) return;
    const made = URL.createObjectURL(media.data);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [media.data]);
  if (media.error) return <Failed error={media.error} retry={() => void media.refetch()} />;
  if (!address) return null;
  // biome-ignore lint/a11y/useMediaCaption: what a model generated has no captions
  return <video controls src={address} style={{ maxInlineSize: '100%' }} />;
}
