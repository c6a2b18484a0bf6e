/** The table of calls, complete or short. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CallRow } from '../../api/types.ts';
import { listMoney } from '../../format/amounts.ts';
import { count, duration } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Ago, Status, useNow } from '../../parts/basic.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';
import type { Names } from './names.ts';
import { statusOf, tokensOf } from './status.ts';
import { words } from './words.ts';

interface Props {
  label: string;
  rows: readonly CallRow[];
  names: Names;
  /** Leaves out the account, the provider and the tokens: for the short list of a member's home. */
  short?: boolean;
  selected?: string | undefined;
  onOpen?: (row: CallRow) => void;
}

export function CallTable({ label, rows, names, short = false, selected, onOpen }: Props) {
  const t = useWords(words);
  const c = useWords(common);
  const now = useNow();
  const status = (row: CallRow) => {
    const { s, text } = statusOf(row, t);
    return <Status s={s}>{text}</Status>;
  };
  const sub = (row: CallRow): ReactNode => (
    <span className="sub only-narrow">
      {status(row)} · {short ? names.key(row.key) : names.account(row.account)}
    </span>
  );
  const columns: Column<CallRow>[] = [
    { id: 'time', head: c('time'), dim: true, cell: ({ at }) => <Ago at={at} now={now} /> },
    { id: 'status', head: c('status'), drop: 'p1', cell: status },
    {
      id: 'model',
      head: c('model'),
      cell: (row) => (
        <>
          <Link className="strong" to="/calls" search={(before) => ({ ...before, call: row.id })}>
            {row.model}
          </Link>
          {sub(row)}
        </>
      ),
    },
    { id: 'account', head: c('account'), drop: 'p3', dim: true, cell: ({ account }) => names.account(account) },
    { id: 'key', head: c('key'), drop: short ? 'p1' : 'p3', dim: true, cell: ({ key }) => names.key(key) },
    { id: 'provider', head: c('provider'), drop: 'p3', dim: true, cell: ({ provider }) => provider || '–' },
    { id: 'tokens', head: c('tokens'), drop: 'p3', num: true, dim: true, cell: (row) => count(tokensOf(row)) },
    {
      id: 'duration',
      head: c('duration'),
      drop: short ? 'p1' : 'p2',
      num: true,
      dim: true,
      cell: ({ durationMs }) => duration(durationMs),
    },
    { id: 'cost', head: c('cost'), num: true, cell: ({ cost }) => listMoney(cost) },
  ];
  const shown = short ? columns.filter(({ id }) => !['account', 'provider', 'tokens'].includes(id)) : columns;
  return (
    <Table
      label={label}
      columns={shown}
      rows={rows}
      rowKey={({ id }) => id}
      selected={selected}
      {...(onOpen && { onOpen })}
    />
  );
}
