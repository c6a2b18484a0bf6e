import type { ReactNode } from 'react';
import type { Column } from '../../parts/table.tsx';

/** The last column: buttons, with a head that only screen readers name. */
export function actionsColumn<Row>(head: string, cell: (row: Row) => ReactNode): Column<Row> {
  return { id: 'act', head: <span className="off">{head}</span>, num: true, cell };
}
