/** Models and prices: what clients may call, where it goes, and what it costs. */
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useModels } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Model } from '../../api/types.ts';
import { exactMoney } from '../../format/money.ts';
import { count } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Head } from '../../parts/basic.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';
import { ModelDrawer } from './model-drawer.tsx';
import { plainComponents } from './price.ts';
import { words } from './words.ts';

const route = getRouteApi('/models');

export function ModelsPage() {
  const t = useWords(words);
  const may = useMay();
  const models = useModels();
  const navigate = useNavigate();
  const { open: opened } = route.useSearch();
  const open = (name: string | undefined) =>
    void navigate({ to: '/models', search: name === undefined ? {} : { open: name } });
  const current = models.data?.find(({ name }) => name === opened);
  return (
    <div className="split">
      <main className="page" id="main">
        <Head title={t('title')}>
          {may('supply:write') && (
            <Link className="btn" to="/providers/add">
              {t('emptyText')}
            </Link>
          )}
        </Head>
        <section className="panel" aria-label={t('list')}>
          <Loaded of={models}>
            {(rows) => <ModelTable rows={rows} selected={opened} onOpen={({ name }) => open(name)} />}
          </Loaded>
        </section>
      </main>
      {current && <ModelDrawer key={current.name} model={current} onClose={() => open(undefined)} />}
    </div>
  );
}

function ModelTable({
  rows,
  selected,
  onOpen,
}: {
  rows: readonly Model[];
  selected: string | undefined;
  onOpen: (row: Model) => void;
}) {
  const t = useWords(words);
  const c = useWords(common);
  if (rows.length === 0) return <Empty icon="models" title={t('emptyTitle')} text={t('emptyText')} />;
  const columns: Column<Model>[] = [
    {
      id: 'name',
      head: c('model'),
      cell: (row) => (
        <>
          <button type="button" className="link strong" onClick={() => onOpen(row)}>
            {row.name}
          </button>
          <span className="sub only-narrow">{priceText(row)}</span>
        </>
      ),
    },
    { id: 'kind', head: t('kind'), drop: 'p2', dim: true, cell: ({ kind }) => kind },
    {
      id: 'targets',
      head: t('targets'),
      drop: 'p3',
      dim: true,
      cell: ({ targets }) => targets.map(({ provider }) => provider).join(' → '),
    },
    {
      id: 'context',
      head: t('context'),
      drop: 'p2',
      num: true,
      dim: true,
      cell: ({ contextTokens }) => count(contextTokens),
    },
    { id: 'price', head: c('price'), drop: 'p1', num: true, cell: priceText },
  ];
  return (
    <>
      <Table
        label={t('list')}
        columns={columns}
        rows={rows}
        rowKey={({ name }) => name}
        selected={selected}
        onOpen={onOpen}
      />
      <div className="foot">{t('unit')}</div>
    </>
  );
}

/** `$0.10 · $0.40`, or the first component with its name where it is not tokens. */
function priceText({ price }: Model): string {
  const { input, output } = price;
  if (typeof input === 'string' && typeof output === 'string') return `${exactMoney(input)} · ${exactMoney(output)}`;
  const first = plainComponents(price)[0];
  return first ? `${first[0]} ${exactMoney(first[1])}` : '–';
}
