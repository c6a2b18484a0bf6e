/** The chart itself: 1.5 px lines, an area under a single series, horizontal grid lines alone. Its own chunk. */
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import type { PlotProps } from './plot-props.ts';

/** A canvas knows no `light-dark()`: the colours are read from an element when the chart is drawn. */
function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const PALETTE = ['--c1', '--c2', '--c3', '--c4', '--c5', '--c6'];

function optionsFor(
  element: HTMLElement,
  { series, write, times, writeAxis, inUtc = false }: PlotProps,
): UPlot.Options {
  const main = series.filter(({ isBefore }) => !isBefore).length;
  const axis = { stroke: colourOf(element, '--text-3'), font: '11px system-ui, sans-serif', ticks: { show: false } };
  let colour = 0;
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    legend: { show: false },
    ...(inUtc && { tzDate: (at: number) => UPlot.tzDate(new Date(at * 1000), 'Etc/UTC') }),
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { x: { time: true }, y: { range: (_chart, _low, high) => [0, high > 0 ? high * 1.05 : 1] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 96,
        values: (_chart, splits) => splits.map((at) => writeAxis(at * 1000)),
      },
      {
        ...axis,
        size: 72,
        space: 48,
        grid: { stroke: colourOf(element, '--grid'), width: 1 },
        values: (_chart, splits) => splits.map(write),
      },
    ],
    series: [
      {},
      ...series.map(({ label, isBefore }): UPlot.Series => {
        if (isBefore)
          return { label, stroke: colourOf(element, '--before'), width: 1.25, dash: [3, 3], points: { show: false } };
        const name = PALETTE[colour++ % PALETTE.length] as string;
        const fill = main === 1 ? { fill: colourOf(element, '--c1-fill') } : {};
        return { label, stroke: colourOf(element, name), width: 1.5, points: { show: times.length === 1 }, ...fill };
      }),
    ],
  };
}

export function UPlotChart(props: PlotProps) {
  const element = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = element.current;
    if (!box) return;
    const { times, series } = props;
    const data = [times.map((at) => at / 1000), ...series.map(({ values }) => [...values])] as UPlot.AlignedData;
    const options = optionsFor(box, props);
    options.hooks = { setCursor: [(chart) => showTip(chart, tip.current, props)] };
    const chart = new UPlot(options, data, box);
    const resized = new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height: box.clientHeight }));
    resized.observe(box);
    return () => {
      resized.disconnect();
      chart.destroy();
    };
  }, [props]);
  return (
    <>
      <div ref={element} style={{ position: 'absolute', inset: 0 }} />
      <div ref={tip} className="tip" hidden />
    </>
  );
}

/** One tooltip for all series: the time with its zone, then each value at the right. */
function showTip(chart: UPlot, tip: HTMLDivElement | null, { times, series, write, writeTime }: PlotProps): void {
  if (!tip) return;
  const { idx, left = 0 } = chart.cursor;
  tip.hidden = idx === null || idx === undefined || left < 0;
  if (tip.hidden) return;
  const title = document.createElement('b');
  title.textContent = writeTime(times[idx as number] as number);
  const list = document.createElement('dl');
  for (const { label, values } of series) {
    const value = values[idx as number];
    const name = document.createElement('dt');
    name.textContent = label;
    const text = document.createElement('dd');
    text.textContent = value === null || value === undefined ? '–' : write(value);
    list.append(name, text);
  }
  tip.replaceChildren(title, list);
  const isRight = left > chart.width / 2;
  tip.style.insetInlineStart = isRight ? '' : `${left + 84}px`;
  tip.style.insetInlineEnd = isRight ? `${chart.width - left - 40}px` : '';
  tip.style.insetBlockStart = '0';
}
