/** A table of rows. Columns drop by the width of their container: `p3` first, then `p2`, then `p1`. */
import type { ReactNode } from 'react';
import { FirstRows } from './first-rows.tsx';

export interface Column<Row> {
  /** Distinguishes the columns. */
  id: string;
  head: ReactNode;
  cell: (row: Row) => ReactNode;
  /** The cell is a button that opens the row. */
  opens?: boolean;
  /** A second line below the cell. */
  sub?: (row: Row) => ReactNode;
  /** A second line in narrow containers, for a column that is dropped there. */
  narrow?: (row: Row) => ReactNode;
  /** Right-aligned, tabular. */
  num?: boolean;
  /** Dropped in narrow containers. */
  drop?: 'p1' | 'p2' | 'p3';
  dim?: boolean;
  className?: string;
}

export interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  selected?: string | undefined;
  /** A click on the row does what its link does. */
  onOpen?: (row: Row) => void;
  foot?: ReactNode;
  /** Instead of a table without rows. */
  empty?: ReactNode;
}

function classOf<Row>({ num, drop, dim, className }: Column<Row>, isHead: boolean): string | undefined {
  const names = [num && 'num', drop, !isHead && dim && 'dim', !isHead && className].filter(Boolean);
  return names.length > 0 ? names.join(' ') : undefined;
}

export function Table<Row>({ label, columns, rows, rowKey, selected, onOpen, foot, empty }: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return empty;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable from the keyboard
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be named by a legend inside the scrolling part
    <div className="scroll" tabIndex={0} role="group" aria-label={label}>
      <table className={onOpen ? 't rows' : 't'}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} className={classOf(column, true)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <FirstRows rows={rows} columns={columns.length}>
          {(row) => (
            <tr
              key={rowKey(row)}
              aria-selected={selected === undefined ? undefined : selected === rowKey(row)}
              onClick={(event) => {
                const target = event.target as HTMLElement;
                if (onOpen && !target.closest('a, button, input')) onOpen(row);
              }}
            >
              {columns.map((column) => (
                <td key={column.id} className={classOf(column, false)}>
                  <Cell column={column} row={row} onOpen={onOpen} />
                </td>
              ))}
            </tr>
          )}
        </FirstRows>
        {foot && <tfoot>{foot}</tfoot>}
      </table>
    </div>
  );
}

interface CellProps<Row> {
  column: Column<Row>;
  row: Row;
  onOpen: ((row: Row) => void) | undefined;
}

function Cell<Row>({ column, row, onOpen }: CellProps<Row>) {
  const { cell, opens, sub, narrow } = column;
  return (
    <>
      {opens ? (
        <button type="button" className="link strong" onClick={() => onOpen?.(row)}>
          {cell(row)}
        </button>
      ) : (
        cell(row)
      )}
      {sub && <span className="sub">{sub(row)}</span>}
      {narrow && <span className="sub only-narrow">{narrow(row)}</span>}
    </>
  );
}
