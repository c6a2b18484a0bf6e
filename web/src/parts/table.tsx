/** A table of rows. Columns drop by the width of their container: `p3` first, then `p2`, then `p1`. */
import type { ReactNode } from 'react';
import { useWords } from '../i18n/words.ts';
import { common } from './words.ts';

export interface Column<Row> {
  /** Distinguishes the columns. */
  id: string;
  head: ReactNode;
  cell: (row: Row) => ReactNode;
  /** Right-aligned, tabular. */
  num?: boolean;
  /** Dropped in narrow containers. */
  drop?: 'p1' | 'p2' | 'p3';
  dim?: boolean;
  className?: string;
}

interface Props<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  selected?: string | undefined;
  /** A click on the row does what its link does. */
  onOpen?: (row: Row) => void;
  foot?: ReactNode;
}

function classOf<Row>({ num, drop, dim, className }: Column<Row>, isHead: boolean): string | undefined {
  const names = [num && 'num', drop, !isHead && dim && 'dim', !isHead && className].filter(Boolean);
  return names.length > 0 ? names.join(' ') : undefined;
}

export function Table<Row>({ label, columns, rows, rowKey, selected, onOpen, foot }: Props<Row>) {
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
        <tbody>
          {rows.map((row) => (
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
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {foot && <tfoot>{foot}</tfoot>}
      </table>
    </div>
  );
}

/** Newer and Older below a list; there are no totals, since counting millions of rows takes seconds. */
export function Pager(props: { newer?: (() => void) | undefined; older?: (() => void) | undefined; hint?: ReactNode }) {
  const t = useWords(common);
  return (
    <div className="foot">
      {props.hint && <span>{props.hint}</span>}
      <span className="acts">
        <button type="button" className="btn" disabled={!props.newer} onClick={props.newer}>
          {t('newer')}
        </button>
        <button type="button" className="btn" disabled={!props.older} onClick={props.older}>
          {t('older')}
        </button>
      </span>
    </div>
  );
}
