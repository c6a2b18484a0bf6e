/** A chart over time. uPlot is loaded when the first one is shown; the same numbers are there as a table. */
import { lazy, Suspense, useState } from 'react';
import { dictionary, useWords } from '../i18n/words.ts';
import { Boundary } from './boundary.tsx';
import type { PlotProps } from './plot-props.ts';
import { Failed } from './states.tsx';

const UPlotChart = lazy(() => import('./uplot-chart.tsx').then(({ UPlotChart }) => ({ default: UPlotChart })));

const PlotTable = lazy(() => import('./plot-table.tsx').then(({ PlotTable }) => ({ default: PlotTable })));

const words = dictionary({
  table: ['Show as table', '显示为表格'],
  chart: ['Show as chart', '显示为图表'],
});

export function Plot(props: PlotProps) {
  const t = useWords(words);
  const [asTable, setAsTable] = useState(false);
  return (
    <>
      <Boundary fallback={(error) => <Failed error={error} />}>
        {asTable ? (
          <Suspense fallback={null}>
            <PlotTable {...props} />
          </Suspense>
        ) : (
          <div className="chart" role="img" aria-label={props.label} style={{ '--h': props.height }}>
            <Suspense fallback={null}>
              <UPlotChart {...props} />
            </Suspense>
          </div>
        )}
      </Boundary>
      <p>
        <button type="button" className="link" onClick={() => setAsTable(!asTable)}>
          {asTable ? t('chart') : t('table')}
        </button>
      </p>
    </>
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
