/** Providers: their health, cool down and reset, and the way to add one. */
import { Link } from '@tanstack/react-router';
import { useHealth, useProviders } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Provider, TargetHealth } from '../../api/types.ts';
import { count, percent } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Status } from '../../parts/basic.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ListPage, Rows, useListAddress } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';
import { isCooling } from './health.ts';
import { ProviderDrawer } from './provider-drawer.tsx';
import { words } from './words.ts';

type TargetsOf = (provider: string) => readonly TargetHealth[];

export function ProvidersPage() {
  const t = useWords(words);
  const may = useMay();
  const providers = useProviders();
  const health = useHealth();
  const targetsOf: TargetsOf = (name) => health.data?.filter(({ provider }) => provider === name) ?? [];
  const columns = useColumns(targetsOf);
  const address = useListAddress('/providers');
  const { opened, close } = address;
  const current = providers.data?.find(({ name }) => name === opened);
  const add = (
    <Link className="btn go" to="/providers/add">
      <Icon name="plus" />
      {t('add')}
    </Link>
  );
  const drawer = current && (
    <ProviderDrawer key={current.name} provider={current} targets={targetsOf(current.name)} onClose={close} />
  );
  return (
    <ListPage title={t('title')} label={t('list')} actions={may('supply:write') && add} drawer={drawer}>
      <Rows
        of={providers}
        address={address}
        label={t('list')}
        columns={columns}
        empty={<Empty icon="providers" title={t('emptyTitle')} text={t('emptyText')} />}
      />
    </ListPage>
  );
}

function useColumns(targetsOf: TargetsOf): Column<Provider>[] {
  const t = useWords(words);
  const c = useWords(common);
  const health = ({ name }: Provider) => <ProviderHealth targets={targetsOf(name)} />;
  return [
    { id: 'name', head: c('name'), opens: true, cell: ({ name }) => name, narrow: health },
    { id: 'type', head: t('type'), drop: 'p2', dim: true, cell: ({ type }) => type },
    { id: 'health', head: t('health'), drop: 'p1', cell: health },
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
