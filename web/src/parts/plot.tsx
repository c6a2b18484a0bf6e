/** A chart over time. uPlot is loaded when the first one is shown; the same numbers are there as a table. */
import { lazy, Suspense, useState } from 'react';
import { dictionary, useWords } from '../i18n/words.ts';
import { Boundary } from './boundary.tsx';
import type { PlotProps } from './plot-props.ts';

const UPlotChart = lazy(() => import('./uplot-chart.tsx').then(({ UPlotChart }) => ({ default: UPlotChart })));

const words = dictionary({
  table: ['Show as table', '显示为表格'],
  chart: ['Show as chart', '显示为图表'],
  time: ['Time', '时间'],
});

export function Plot(props: PlotProps) {
  const t = useWords(words);
  const [asTable, setAsTable] = useState(false);
  return (
    <>
      {asTable ? (
        <PlotTable {...props} />
      ) : (
        <Boundary fallback={() => <PlotTable {...props} />}>
          <div className="chart" role="img" aria-label={props.label} style={{ '--h': props.height }}>
            <Suspense fallback={null}>
              <UPlotChart {...props} />
            </Suspense>
          </div>
        </Boundary>
      )}
      <p>
        <button type="button" className="link" onClick={() => setAsTable(!asTable)}>
          {asTable ? t('chart') : t('table')}
        </button>
      </p>
    </>
  );
}

function PlotTable({ label, times, series, write, writeTime }: PlotProps) {
  const t = useWords(words);
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

/** A sparkline of a figure: a hand-written path in the design's box of 100 by 28. */
export function Spark({ values }: { values: readonly number[] }) {
  if (values.length < 2) return null;
  const path = sparkPath(values);
  return (
    <svg className="spark" viewBox="0 0 100 28" preserveAspectRatio="none" aria-hidden="true">
      <path className="area" d={`${path}L100 28L0 28Z`} />
      <path d={path} />
    </svg>
  );
}

const TOP = 2.5;
const BOTTOM = 26;

function sparkPath(values: readonly number[]): string {
  const most = Math.max(...values, 0);
  const point = (value: number, at: number) => {
    const x = (at / (values.length - 1)) * 100;
    const y = most === 0 ? BOTTOM : BOTTOM - (value / most) * (BOTTOM - TOP);
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  };
  return `M${values.map(point).join('L')}`;
}
