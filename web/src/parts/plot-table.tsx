/** The numbers of a chart as a table, loaded when somebody asks for it. */
import { useWords } from '../i18n/words.ts';
import type { PlotProps } from './plot-props.ts';
import { common } from './words.ts';

/** The numbers of a chart. */
export function PlotTable({ label, times, series, write, writeTime }: PlotProps) {
  const t = useWords(common);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be named by a legend inside the scrolling part
    <div
      className="scroll"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable from the keyboard
      tabIndex={0}
      role="group"
      aria-label={label}
      style={{ maxBlockSize: '20rem', overflowY: 'auto' }}
    >
      <table className="mini">
        <thead>
          <tr>
            <th>{t('time')}</th>
            {series.map(({ label }) => (
              <th key={label} className="num">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((at, index) => (
            <tr key={at}>
              <td>{writeTime(at)}</td>
              {series.map(({ label, values }) => {
                const value = values[index];
                return (
                  <td key={label} className="num">
                    {value === null || value === undefined ? '–' : write(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
