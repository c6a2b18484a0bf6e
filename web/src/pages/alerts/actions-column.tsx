/** The column of buttons in the tables of alerts. */
import type { ReactNode } from 'react';
import { useMay } from '../../api/session.ts';
import { useWords } from '../../i18n/words.ts';
import type { Column } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';

/** The last column: buttons for those who may change alerts, with a head that only screen readers name. */
export function useActionsColumn<Row>(buttons: (row: Row) => ReactNode): Column<Row> {
  const c = useWords(common);
  const may = useMay();
  return {
    id: 'act',
    head: <span className="off">{c('actions')}</span>,
    num: true,
    cell: (row) => may('alerts:write') && buttons(row),
  };
}
