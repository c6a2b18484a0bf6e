/** Audit: who changed what, with what was before and after. */
import { fullTime } from '../../format/numbers.ts';
import { dictionary, useWords } from '../../i18n/words.ts';
import { Ago, useNow } from '../../parts/basic.tsx';
import { Chip, Chips } from '../../parts/chips.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { withFilter } from '../../parts/filters.ts';
import { ListPage, PagedRows, useListAddress } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
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

const FILTERS = ['subject', 'actor', 'action'] as const;

export function AuditPage() {
  const t = useWords(words);
  const c = useWords(common);
  const address = useListAddress('/audit');
  const { opened, listed, go, close } = address;
  const { subject, actor, action, after } = listed;
  const audit = usePage<AuditRow>('audit', '/admin/v1/audit', { subject, actor, action, after });
  const columns = useColumns();
  const current = audit.data?.data.find(({ id }) => id === opened);
  const filters = FILTERS.map((name) => (
    <Chip key={name} label={t(name)} value={listed[name]} onChange={(value) => go(withFilter(listed, name, value))} />
  ));
  const empty = FILTERS.some((name) => listed[name]) ? (
    <Empty icon="audit" title={t('noMatch')}>
      <button type="button" className="btn" onClick={() => go({})}>
        {c('clear')}
      </button>
    </Empty>
  ) : (
    <Empty icon="audit" title={t('emptyTitle')} />
  );
  const drawer = current && (
    <Drawer key={current.id} title={current.action} sub={current.subject} onClose={close}>
      <Change row={current} />
    </Drawer>
  );
  return (
    <ListPage title={t('title')} label={t('list')} filters={<Chips>{filters}</Chips>} drawer={drawer}>
      <PagedRows of={audit} address={address} label={t('list')} columns={columns} empty={empty} />
    </ListPage>
  );
}

function useColumns(): Column<AuditRow>[] {
  const t = useWords(words);
  const c = useWords(common);
  const now = useNow();
  return [
    { id: 'time', head: c('time'), dim: true, cell: ({ at }) => <Ago at={at} now={now} /> },
    { id: 'action', head: t('action'), opens: true, cell: ({ action }) => action, narrow: ({ subject }) => subject },
    { id: 'subject', head: t('subject'), drop: 'p1', dim: true, cell: ({ subject }) => subject },
    { id: 'actor', head: t('actor'), drop: 'p1', dim: true, cell: ({ actor, actorName }) => actorName ?? actor },
  ];
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
