/** The models that a provider lists: a table to choose from. Those without a list price get theirs in the form below it. */
import { useState } from 'react';
import type { FoundList, FoundModel, Model } from '../../api/types.ts';
import { count } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Note, Status } from '../../parts/basic.tsx';
import { Field } from '../../parts/form.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';
import { type FoundState, foundState, matching } from './found.ts';
import { words } from './words.ts';

/** More rows than these are asked for: the longest lists have several hundred. */
const FIRST_ROWS = 50;
/** Shorter lists need no filter. */
const FILTER_FROM = 9;

interface Props {
  provider: string;
  list: FoundList;
  models: readonly Model[];
  busy: boolean;
  onEnable: (chosen: readonly FoundModel[]) => void;
  onPrice: (id: string) => void;
}

export function FoundModels({ provider, list, models, busy, onEnable, onPrice }: Props) {
  const t = useWords(words);
  const [filter, setFilter] = useState('');
  const [isWhole, setWhole] = useState(false);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const stateOf = (row: FoundModel) => foundState(row, provider, models);
  const matches = matching(list.data, filter);
  const rows = isWhole ? matches : matches.slice(0, FIRST_ROWS);
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const able = matches.filter((row) => canEnable(stateOf(row)));
  const columns: Column<FoundModel>[] = [
    {
      id: 'choose',
      head: <span className="off">{t('enable')}</span>,
      cell: (row) => (
        <input
          type="checkbox"
          aria-label={t('enableOne', { name: row.id })}
          disabled={!canEnable(stateOf(row))}
          checked={chosen.has(row.id)}
          onChange={() => toggle(row.id)}
        />
      ),
    },
    ...columnsOf(t),
    {
      id: 'state',
      head: t('state'),
      cell: (row) => <FoundStatus state={stateOf(row)} id={row.id} onPrice={onPrice} />,
    },
  ];
  return (
    <>
      {list.data.length >= FILTER_FROM && (
        <Field type="search" label={t('filter')} value={filter} onChange={(event) => setFilter(event.target.value)} />
      )}
      <section className="panel" aria-label={t('found')}>
        <Table label={t('found')} columns={columns} rows={rows} rowKey={({ id }) => id} />
        <div className="foot">
          <span aria-live="polite">{t('foundOf', { n: matches.length, all: list.data.length })}</span>
          <span className="acts">
            {rows.length < matches.length && (
              <button type="button" className="btn" onClick={() => setWhole(true)}>
                {t('moreModels', { n: matches.length - rows.length })}
              </button>
            )}
            <button
              type="button"
              className="btn"
              disabled={able.length === 0}
              onClick={() => setChosen(new Set(able.map(({ id }) => id)))}
            >
              {t('selectAll')}
            </button>
          </span>
        </div>
      </section>
      {list.hasMore && <Note s="warn">{t('listEnds')}</Note>}
      <div className="row">
        <button
          type="button"
          className="btn go"
          disabled={busy || chosen.size === 0}
          onClick={() => onEnable(list.data.filter(({ id }) => chosen.has(id)))}
        >
          {t('enableSome', { n: chosen.size })}
        </button>
      </div>
    </>
  );
}

const canEnable = (state: FoundState) => state === 'ready' || state === 'adds';

function columnsOf(t: (key: 'modelHead' | 'context' | 'inputHead' | 'outputHead') => string): Column<FoundModel>[] {
  return [
    { id: 'model', head: t('modelHead'), cell: ({ id }) => <span className="strong">{id}</span> },
    {
      id: 'context',
      head: t('context'),
      num: true,
      drop: 'p2',
      dim: true,
      cell: ({ contextTokens }) => count(contextTokens),
    },
    { id: 'input', head: t('inputHead'), num: true, drop: 'p1', cell: ({ price }) => amount(price?.input) },
    { id: 'output', head: t('outputHead'), num: true, drop: 'p1', cell: ({ price }) => amount(price?.output) },
  ];
}

const amount = (value: unknown) => (typeof value === 'string' ? `$${value}` : '–');

function FoundStatus({ state, id, onPrice }: { state: FoundState; id: string; onPrice: (id: string) => void }) {
  const t = useWords(words);
  const c = useWords(common);
  if (state === 'unpriced') {
    return (
      <button type="button" className="link" aria-label={t('setPriceOf', { name: id })} onClick={() => onPrice(id)}>
        {t('setPrice')}
      </button>
    );
  }
  if (state === 'enabled') return <Status s="ok">{c('enabled')}</Status>;
  return <Status s={state === 'adds' ? 'idle' : 'ok'}>{state === 'adds' ? t('addsTarget') : t('ready')}</Status>;
}
