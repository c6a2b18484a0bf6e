/** Providers: their health, cool down and reset, and the way to add one. */
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useHealth, useProviders } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Provider, TargetHealth } from '../../api/types.ts';
import { count, percent } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Head, Status } from '../../parts/basic.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';
import { isCooling } from './health.ts';
import { ProviderDrawer } from './provider-drawer.tsx';
import { words } from './words.ts';

const route = getRouteApi('/providers');

export function ProvidersPage() {
  const t = useWords(words);
  const may = useMay();
  const { open: opened } = route.useSearch();
  const navigate = useNavigate();
  const providers = useProviders();
  const health = useHealth();
  const open = (name: string | undefined) =>
    void navigate({ to: '/providers', search: name === undefined ? {} : { open: name } });
  const targetsOf = (name: string) => health.data?.filter(({ provider }) => provider === name) ?? [];
  const current = providers.data?.find(({ name }) => name === opened);
  return (
    <div className="split">
      <main className="page" id="main">
        <Head title={t('title')}>
          {may('supply:write') && (
            <Link className="btn go" to="/providers/add">
              <Icon name="plus" />
              {t('add')}
            </Link>
          )}
        </Head>
        <section className="panel" aria-label={t('list')}>
          <Loaded of={providers}>
            {(rows) => (
              <ProviderTable rows={rows} targetsOf={targetsOf} selected={opened} onOpen={({ name }) => open(name)} />
            )}
          </Loaded>
        </section>
      </main>
      {current && (
        <ProviderDrawer
          key={current.name}
          provider={current}
          targets={targetsOf(current.name)}
          onClose={() => open(undefined)}
        />
      )}
    </div>
  );
}

interface TableProps {
  rows: readonly Provider[];
  targetsOf: (name: string) => readonly TargetHealth[];
  selected: string | undefined;
  onOpen: (row: Provider) => void;
}

function ProviderTable({ rows, targetsOf, selected, onOpen }: TableProps) {
  const t = useWords(words);
  const c = useWords(common);
  if (rows.length === 0) return <Empty icon="providers" title={t('emptyTitle')} text={t('emptyText')} />;
  const columns: Column<Provider>[] = [
    {
      id: 'name',
      head: c('name'),
      cell: (row) => (
        <>
          <button type="button" className="link strong" onClick={() => onOpen(row)}>
            {row.name}
          </button>
          <span className="sub only-narrow">
            <ProviderHealth targets={targetsOf(row.name)} />
          </span>
        </>
      ),
    },
    { id: 'type', head: t('type'), drop: 'p2', dim: true, cell: ({ type }) => type },
    { id: 'health', head: t('health'), drop: 'p1', cell: ({ name }) => <ProviderHealth targets={targetsOf(name)} /> },
    {
      id: 'credentials',
      head: t('credentials'),
      drop: 'p3',
      className: 'mono dim',
      cell: ({ credentials }) => credentials.map((last4) => `…${last4.slice(-4)}`).join(' ') || '–',
    },
    {
      id: 'targets',
      head: t('targets'),
      drop: 'p2',
      num: true,
      dim: true,
      cell: ({ name }) => count(targetsOf(name).length),
    },
    {
      id: 'inFlight',
      head: t('inFlight'),
      drop: 'p2',
      num: true,
      dim: true,
      cell: ({ name }) => count(sum(targetsOf(name), 'inFlight')),
    },
    {
      id: 'errors',
      head: t('errors'),
      num: true,
      dim: true,
      cell: ({ name }) => percent(errorRate(targetsOf(name)), 2),
    },
  ];
  return (
    <Table
      label={t('list')}
      columns={columns}
      rows={rows}
      rowKey={({ name }) => name}
      selected={selected}
      onOpen={onOpen}
    />
  );
}

const sum = (targets: readonly TargetHealth[], member: 'inFlight' | 'calls') =>
  targets.reduce((total, target) => total + target[member], 0);

function errorRate(targets: readonly TargetHealth[]): number | undefined {
  const calls = sum(targets, 'calls');
  return calls === 0
    ? undefined
    : targets.reduce((total, target) => total + target.errorRate * target.calls, 0) / calls;
}

function ProviderHealth({ targets }: { targets: readonly TargetHealth[] }) {
  const t = useWords(words);
  if (targets.length === 0) return <Status s="idle">{t('unused')}</Status>;
  const cooling = targets.filter(isCooling).length;
  if (cooling === 0) return <Status s="ok">{t('healthy')}</Status>;
  return (
    <Status s={cooling === targets.length ? 'bad' : 'warn'}>{t('cooling', { n: cooling, all: targets.length })}</Status>
  );
}
