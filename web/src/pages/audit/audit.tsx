/** Audit: who changed what, with what was before and after. */
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { fullTime } from '../../format/numbers.ts';
import { dictionary, useWords } from '../../i18n/words.ts';
import { Ago, Head, useNow } from '../../parts/basic.tsx';
import { Chip, Chips } from '../../parts/chips.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { withFilter } from '../../parts/filters.ts';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Pager, Table } from '../../parts/table.tsx';
import { usePage } from '../../parts/use-page.ts';
import { common } from '../../parts/words.ts';
import { diffOf } from './diff.ts';

const words = dictionary({
  title: ['Audit', '审计日志'],
  list: ['Changes, newest first', '变更，最新在前'],
  action: ['Action', '操作'],
  subject: ['Subject', '对象'],
  actor: ['Who', '操作者'],
  emptyTitle: ['No changes yet', '暂无变更'],
  noMatch: ['No changes match these filters', '没有符合筛选条件的变更'],
  what: ['What changed', '变更内容'],
  nothing: ['This row holds no values.', '此记录不含数值。'],
});

interface AuditRow {
  id: string;
  actor: string;
  actorName?: string;
  action: string;
  subject: string;
  at: string;
  before?: unknown;
  after?: unknown;
}

const route = getRouteApi('/audit');
const FILTERS = ['subject', 'actor', 'action'] as const;

export function AuditPage() {
  const t = useWords(words);
  const c = useWords(common);
  const search = route.useSearch();
  const navigate = useNavigate();
  const go = (next: typeof search) => void navigate({ to: '/audit', search: next });
  const { open: opened, ...listed } = search;
  const { subject, actor, action, after } = listed;
  const audit = usePage<AuditRow>('audit', '/admin/v1/audit', { subject, actor, action, after });
  const current = audit.data?.data.find(({ id }) => id === opened);
  return (
    <div className="split">
      <main className="page" id="main">
        <Head title={t('title')} />
        <Chips>
          {FILTERS.map((name) => (
            <Chip
              key={name}
              label={t(name)}
              value={search[name]}
              onChange={(value) => go(withFilter(search, name, value))}
            />
          ))}
        </Chips>
        <section className="panel" aria-label={t('list')}>
          <Loaded of={audit}>
            {({ data, hasMore, next }) =>
              data.length === 0 ? (
                <Empty icon="audit" title={FILTERS.some((name) => search[name]) ? t('noMatch') : t('emptyTitle')}>
                  {FILTERS.some((name) => search[name]) && (
                    <button type="button" className="btn" onClick={() => go({})}>
                      {c('clear')}
                    </button>
                  )}
                </Empty>
              ) : (
                <>
                  <AuditTable rows={data} selected={opened} onOpen={({ id }) => go({ ...listed, open: id })} />
                  <Pager
                    newer={after ? () => go(withFilter(listed, 'after', undefined)) : undefined}
                    older={hasMore && next ? () => go({ ...listed, after: next }) : undefined}
                  />
                </>
              )
            }
          </Loaded>
        </section>
      </main>
      {current && (
        <Drawer key={current.id} title={current.action} sub={current.subject} onClose={() => go(listed)}>
          <Change row={current} />
        </Drawer>
      )}
    </div>
  );
}

function AuditTable({
  rows,
  selected,
  onOpen,
}: {
  rows: readonly AuditRow[];
  selected: string | undefined;
  onOpen: (row: AuditRow) => void;
}) {
  const t = useWords(words);
  const c = useWords(common);
  const now = useNow();
  const columns: Column<AuditRow>[] = [
    { id: 'time', head: c('time'), dim: true, cell: ({ at }) => <Ago at={at} now={now} /> },
    {
      id: 'action',
      head: t('action'),
      cell: (row) => (
        <>
          <button type="button" className="link strong" onClick={() => onOpen(row)}>
            {row.action}
          </button>
          <span className="sub only-narrow">{row.subject}</span>
        </>
      ),
    },
    { id: 'subject', head: t('subject'), drop: 'p1', dim: true, cell: ({ subject }) => subject },
    { id: 'actor', head: t('actor'), drop: 'p1', dim: true, cell: ({ actor, actorName }) => actorName ?? actor },
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

function Change({ row }: { row: AuditRow }) {
  const t = useWords(words);
  const changes = diffOf(row.before, row.after);
  return (
    <section aria-label={t('what')}>
      <dl className="pairs">
        <dt>{t('actor')}</dt>
        <dd>{row.actorName ?? row.actor}</dd>
        <dt>{t('subject')}</dt>
        <dd>{row.subject}</dd>
        <dt>{t('action')}</dt>
        <dd>
          <time dateTime={row.at}>{fullTime(row.at)}</time>
        </dd>
      </dl>
      {changes.length === 0 ? (
        <p className="dim">{t('nothing')}</p>
      ) : (
        <div className="diff" style={{ marginBlockStart: '1rem' }}>
          {changes.map(({ path, before, after }) => (
            <span key={path}>
              {path}
              {before !== undefined && <span className="minus"> −{before}</span>}
              {after !== undefined && <span className="plus"> +{after}</span>}
            </span>
          ))}
        </div>
      )}
    </section>
  );
}
