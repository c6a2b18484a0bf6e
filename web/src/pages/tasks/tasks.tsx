/** Video tasks of an account: their state, and a player for those that are finished. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useAccounts } from '../../api/queries.ts';
import { maySpend, type Named, useMay, useSession } from '../../api/session.ts';
import { fullTime } from '../../format/numbers.ts';
import { type Translate, useWords } from '../../i18n/words.ts';
import { Ago, type State, Status, useNow } from '../../parts/basic.tsx';
import { Chips, NamedChip } from '../../parts/chips.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { ListPage, Rows, useListAddress } from '../../parts/list-page.tsx';
import { Denied, Empty, Failed } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
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

const timeOf = (seconds: number) => new Date(seconds * SECOND_MS).toISOString();

export function TasksPage() {
  const t = useWords(words);
  const may = useMay();
  const session = useSession();
  const address = useListAddress('/tasks');
  const { opened, listed, go, close } = address;
  const accounts = useAccounts(may('accounts:read') && may('keys:write')).data ?? session.accounts;
  const account = listed.account ?? session.account?.id ?? accounts[0]?.id;
  const playground = usePlaygroundKey(account, maySpend(session));
  const key = playground.data?.key;
  const tasks = useQuery({
    queryKey: ['tasks', key],
    queryFn: async () =>
      ((await (await sendAs(key as string, '/v1/videos?limit=100')).json()) as { data: Task[] }).data,
    enabled: key !== undefined,
    refetchInterval: POLL_MS,
  });
  const columns = useColumns();
  const current = tasks.data?.find(({ id }) => id === opened);
  const filters = <AccountChip chosen={listed.account} shown={account} of={accounts} onChange={go} />;
  const drawer = current && key && (
    <Drawer key={current.id} title={current.model} sub={current.id} onClose={close}>
      <TaskBody task={current} playgroundKey={key} />
    </Drawer>
  );
  return (
    <ListPage title={t('title')} label={t('list')} filters={filters} drawer={drawer}>
      {!maySpend(session) ? (
        <Denied />
      ) : playground.error ? (
        <Failed error={playground.error} retry={() => void playground.refetch()} />
      ) : (
        <Rows
          of={tasks}
          address={address}
          label={t('list')}
          columns={columns}
          empty={<Empty icon="tasks" title={t('emptyTitle')} text={t('emptyText')} />}
        />
      )}
    </ListPage>
  );
}

interface AccountChipProps {
  /** The account in the address. */
  chosen: string | undefined;
  /** The account whose tasks are shown: without a choice, the first one. */
  shown: string | undefined;
  of: readonly Named[];
  onChange: (search: { account?: string }) => void;
}

/** One account is always shown. While it is not a choice, the chip names it and offers the others. */
export function AccountChip({ chosen, shown, of, onChange }: AccountChipProps) {
  const c = useWords(common);
  const name = of.find(({ id }) => id === shown)?.name;
  const label = chosen === undefined && name !== undefined ? `${c('account')}: ${name}` : c('account');
  return (
    <Chips>
      <NamedChip
        label={label}
        value={chosen}
        of={of}
        onChange={(value) => onChange(value === undefined ? {} : { account: value })}
      />
    </Chips>
  );
}

function stateOf({ status, progress }: Task, t: Translate<typeof words>): { s: State; text: string } {
  if (status === 'completed') return { s: 'ok', text: t('completed') };
  if (status === 'failed') return { s: 'bad', text: t('failed') };
  return { s: 'live', text: t('running', { n: progress ?? 0 }) };
}

function useColumns(): Column<Task>[] {
  const t = useWords(words);
  const c = useWords(common);
  const now = useNow();
  const status = (row: Task) => {
    const { s, text } = stateOf(row, t);
    return <Status s={s}>{text}</Status>;
  };
  return [
    { id: 'time', head: c('time'), dim: true, cell: ({ created_at }) => <Ago at={timeOf(created_at)} now={now} /> },
    { id: 'status', head: c('status'), cell: status },
    { id: 'model', head: c('model'), opens: true, cell: ({ model }) => model },
    { id: 'prompt', head: t('prompt'), drop: 'p2', dim: true, cell: ({ prompt }) => prompt ?? '–' },
    { id: 'seconds', head: t('seconds'), drop: 'p1', num: true, dim: true, cell: ({ seconds }) => seconds ?? '–' },
  ];
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
