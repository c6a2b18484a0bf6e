/** The body of a table: the first rows, and more when they are asked for. A browser takes seconds to lay out ten thousand. */
import { type ReactNode, useState } from 'react';
import { dictionary, useWords } from '../i18n/words.ts';

const words = dictionary({
  more: ['Show more rows', '显示更多行'],
});

const STEP = 100;

interface Props<Row> {
  rows: readonly Row[];
  columns: number;
  children: (row: Row) => ReactNode;
}

export function FirstRows<Row>({ rows, columns, children }: Props<Row>) {
  const t = useWords(words);
  const [count, setCount] = useState(STEP);
  return (
    <tbody>
      {rows.slice(0, count).map(children)}
      {rows.length > count && (
        <tr>
          <td colSpan={columns}>
            <button type="button" className="btn" onClick={() => setCount(count + STEP)}>
              {t('more')}
            </button>
          </td>
        </tr>
      )}
    </tbody>
  );
}
