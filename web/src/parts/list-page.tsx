/** A page that is a list: its head, its filters, the panel of its table, and beside it the drawer of the row that is open. */
import type { UseQueryResult } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type * as api from '../api/types.ts';
import { Page } from './basic.tsx';
import { LIST_FILTERS, type ListSearch, readSearch } from './filters.ts';
import { Icon } from './icon.tsx';
import { Pager } from './pager.tsx';
import { Loaded } from './states.tsx';
import { type Column, Table } from './table.tsx';

interface Props {
  title: string;
  /** Buttons beside the title. */
  actions?: ReactNode;
  filters?: ReactNode;
  /** Names the panel. */
  label: string;
  drawer?: ReactNode;
  children: ReactNode;
}

export function ListPage({ title, actions, filters, label, drawer, children }: Props) {
  return (
    <div className="split">
      <Page title={title} actions={actions}>
        {filters}
        <section className="panel" aria-label={label}>
          {children}
        </section>
      </Page>
      {drawer}
    </div>
  );
}

type ListPath =
  `/${'accounts' | 'alerts' | 'audit' | 'codes' | 'keys' | 'ledger' | 'models' | 'people' | 'providers' | 'tasks'}`;

/** What the address of a list holds, and how to change it: the drawer is `open`, everything else is `listed`. */
export function useListAddress(to: ListPath) {
  const { open: opened, ...listed }: ListSearch = useSearch({ from: to });
  const navigate = useNavigate();
  const go = (search: ListSearch) => void navigate({ to, search: readSearch(LIST_FILTERS, search) });
  const open = (id: string) => go({ ...listed, open: id });
  return { opened, listed, go, open, close: () => go(listed) };
}

export type ListAddress = ReturnType<typeof useListAddress>;

/** A row is known by its id; models and providers by their name, entries of the ledger by their number. */
type Known = { id: string } | { name: string } | { seq: number };

function idOf(row: Known): string {
  if ('id' in row) return row.id;
  return 'name' in row ? row.name : String(row.seq);
}

interface RowsProps<Row> {
  label: string;
  address: ListAddress;
  columns: readonly Column<Row>[];
  /** Instead of a table without rows. */
  empty: ReactNode;
}

/** The props of the table: where a column opens its row, the address says which one is open. */
function tableProps<Row extends Known>({ address, ...table }: RowsProps<Row>) {
  const canOpen = table.columns.some(({ opens }) => opens);
  const opening = { selected: address.opened, onOpen: (row: Row) => address.open(idOf(row)) };
  return { ...table, rowKey: idOf, ...(canOpen && opening) };
}

interface CompleteProps<Row> extends RowsProps<Row> {
  of: UseQueryResult<readonly Row[]>;
  /** Whether the filters let the row through. */
  isShown?: (row: Row) => boolean;
}

/** The rows of a list that is read completely. */
export function Rows<Row extends Known>({ of, isShown = () => true, ...props }: CompleteProps<Row>) {
  return <Loaded of={of}>{(rows) => <Table rows={rows.filter(isShown)} {...tableProps(props)} />}</Loaded>;
}

/** The rows of a list that is read page by page, with the way to the next page and back to the newest. */
export function PagedRows<Row extends Known>({ of, ...props }: RowsProps<Row> & { of: UseQueryResult<api.Page<Row>> }) {
  const { go, listed } = props.address;
  return (
    <Loaded of={of}>
      {({ data, hasMore, next }) => (
        <>
          <Table rows={data} {...tableProps(props)} />
          {data.length > 0 && (
            <Pager
              newer={listed.after ? () => go({ ...listed, after: undefined }) : undefined}
              older={hasMore && next ? () => go({ ...listed, after: next }) : undefined}
            />
          )}
        </>
      )}
    </Loaded>
  );
}

export function AddButton({ text, onClick }: { text: string; onClick: () => void }) {
  return (
    <button type="button" className="btn go" onClick={onClick}>
      <Icon name="plus" />
      {text}
    </button>
  );
}
