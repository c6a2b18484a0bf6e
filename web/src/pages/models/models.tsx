/** Models and prices: what clients may call, where it goes, and what it costs. */
import { Link } from '@tanstack/react-router';
import { useModels } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Model } from '../../api/types.ts';
import { exactMoney } from '../../format/amounts.ts';
import { count } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { ListPage, Rows, useListAddress } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';
import { ModelDrawer } from './model-drawer.tsx';
import { plainComponents } from './price.ts';
import { words } from './words.ts';

export function ModelsPage() {
  const t = useWords(words);
  const may = useMay();
  const models = useModels();
  const columns = useColumns();
  const address = useListAddress('/models');
  const { opened, close } = address;
  const current = models.data?.find(({ name }) => name === opened);
  const add = (
    <Link className="btn" to="/providers/add">
      {t('add')}
    </Link>
  );
  return (
    <ListPage
      title={t('title')}
      label={t('list')}
      actions={may('supply:write') && add}
      drawer={current && <ModelDrawer key={current.name} model={current} onClose={close} />}
    >
      <Rows
        of={models}
        address={address}
        label={t('list')}
        columns={columns}
        empty={<Empty icon="models" title={t('emptyTitle')} text={t('emptyText')} />}
      />
      {models.data?.length ? <div className="foot">{t('unit')}</div> : null}
    </ListPage>
  );
}

function useColumns(): Column<Model>[] {
  const t = useWords(words);
  const c = useWords(common);
  return [
    { id: 'name', head: c('model'), opens: true, cell: ({ name }) => name, narrow: priceText },
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
    { id: 'price', head: t('price'), drop: 'p1', num: true, cell: priceText },
  ];
}

/** `$0.10 · $0.40`, or the first component with its name where it is not tokens. */
function priceText({ price }: Model): string {
  const { input, output } = price;
  if (typeof input === 'string' && typeof output === 'string') return `${exactMoney(input)} · ${exactMoney(output)}`;
  const first = plainComponents(price)[0];
  return first ? `${first[0]} ${exactMoney(first[1])}` : '–';
}
