/** A page with the panels of a Grafana dashboard, from the answers to their queries. Plain SVG: not how Grafana shows them, but the same data. */

export interface Panel {
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; legendFormat: string }[];
  fieldConfig?: { defaults: { unit: string; custom: { fillOpacity: number; stacking?: { mode: string } } } };
}

/** What a panel shows: values by Unix second. */
export interface Series {
  name: string;
  points: [second: number, value: number][];
}

export interface Period {
  start: number;
  end: number;
  step: number;
}

export const WIDTH = 1140;
const UNIT_PX = 27;
const PLOT = { left: 58, right: 12, top: 6, bottom: 20, height: 136 };
/** So many have space below a panel. */
const LEGEND_NAMES = 8;
const COLORS = ['#56a64b', '#e0a800', '#3274d9', '#e02f44', '#a352cc', '#ff780a', '#1aa3a3', '#8f3bb8', '#7c6f64'];
const STYLE = `
  body { margin: 0; padding: 8px; width: ${WIDTH}px; box-sizing: border-box; background: #f4f5f5; color: #24292e; font: 11px sans-serif }
  main { display: grid; grid-template-columns: repeat(24, 1fr); grid-auto-rows: ${UNIT_PX}px }
  h2 { font-size: 14px; margin: 6px 4px }
  section { margin: 3px; background: #fff; border: 1px solid #dcdfe3; border-radius: 3px; overflow: hidden }
  h3 { font-size: 12px; margin: 6px 10px 2px }
  ul { margin: 0 10px; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: 0 10px; line-height: 14px }
  li i { display: inline-block; width: 12px; height: 3px; margin-right: 4px; vertical-align: 3px }
  .empty { text-align: center; font-size: 14px; color: #7b8087; line-height: ${PLOT.height}px }
  text { font: 10px sans-serif; fill: #52545c }`;

export function dashboardPage(panels: readonly Panel[], data: ReadonlyMap<string, Series[]>, period: Period): string {
  const top = Math.min(...panels.map(({ gridPos }) => gridPos.y));
  const cells = panels.map((panel) => {
    const { x, y, w, h } = panel.gridPos;
    const place = `grid-column:${x + 1}/span ${w};grid-row:${y - top + 1}/span ${h}`;
    const title = Bun.escapeHTML(panel.title);
    if (panel.type === 'row') return `<h2 style="${place}">${title}</h2>`;
    const width = ((WIDTH - 16) / 24) * w - 8;
    return `<section style="${place}"><h3>${title}</h3>${chart(panel, data.get(panel.title) ?? [], period, width)}</section>`;
  });
  return `<!doctype html><meta charset="utf-8"><style>${STYLE}</style><main>${cells.join('')}</main>`;
}

function chart(panel: Panel, series: readonly Series[], period: Period, width: number): string {
  if (series.length === 0) return '<div class="empty">No data</div>';
  const { unit = 'short', custom } = panel.fieldConfig?.defaults ?? {};
  const lines = custom?.stacking?.mode === 'normal' ? stacked(series, period) : series.map(valuesOf);
  const highest = Math.max(0, ...lines.flatMap(({ values }) => [...values.values()]));
  const { step, top } = scale(highest, unit === 'bytes' ? 2 : 10);
  const plotWidth = width - PLOT.left - PLOT.right;
  const x = (second: number) => PLOT.left + ((second - period.start) / (period.end - period.start)) * plotWidth;
  const y = (value: number) => PLOT.top + (1 - value / top) * (PLOT.height - PLOT.top - PLOT.bottom);
  const grid: string[] = [];
  for (let value = 0; value <= top * 1.001; value += step)
    grid.push(
      `<path d="M${PLOT.left} ${y(value)}h${plotWidth}" stroke="#e8eaed"/><text x="${PLOT.left - 6}" y="${y(value) + 3}" text-anchor="end">${format(value, unit, step)}</text>`,
    );
  for (let second = Math.ceil(period.start / 30) * 30; second <= period.end; second += 30)
    grid.push(
      `<text x="${x(second)}" y="${PLOT.height - 4}" text-anchor="middle">${new Date(second * 1000).toISOString().slice(11, 19)}</text>`,
    );
  const paths = lines.map(({ values, below }, index) => {
    const color = COLORS[index % COLORS.length] as string;
    return runs(values, period.step)
      .map((run) => area(run, below, { x, y }, color, (custom?.fillOpacity ?? 0) / 100))
      .join('');
  });
  // A long list shows the lines that are not always zero.
  const all = series.map(({ name, points }, index) => ({ name, index, used: points.some(([, value]) => value !== 0) }));
  const named = all.filter(({ used }) => used || all.length <= LEGEND_NAMES);
  const legend = named.map(
    ({ name, index }) => `<li><i style="background:${COLORS[index % COLORS.length]}"></i>${Bun.escapeHTML(name)}</li>`,
  );
  if (named.length < all.length) legend.push(`<li>and ${all.length - named.length} that are always 0</li>`);
  return `<svg width="${width}" height="${PLOT.height}">${grid.join('')}${paths.join('')}</svg><ul>${legend.join('')}</ul>`;
}

type Values = Map<number, number>;

interface Line {
  values: Values;
  /** The line below in a stack. */
  below?: Values;
}

const valuesOf = ({ points }: Series): Line => ({ values: new Map(points) });

function stacked(series: readonly Series[], { start, end, step }: Period): Line[] {
  const lines: Line[] = [];
  let below: Values = new Map();
  for (const line of series) {
    const own = new Map(line.points);
    const values: Values = new Map();
    for (let second = start; second <= end; second += step)
      values.set(second, (below.get(second) ?? 0) + (own.get(second) ?? 0));
    lines.push({ values, below });
    below = values;
  }
  return lines;
}

/** The parts of a line without a gap. */
function runs(values: Values, step: number): [number, number][][] {
  const found: [number, number][][] = [];
  let last = Number.NaN;
  for (const point of values) {
    if (point[0] - last <= step * 1.5) found.at(-1)?.push(point);
    else found.push([point]);
    last = point[0];
  }
  return found;
}

interface Axes {
  x(second: number): number;
  y(value: number): number;
}

function area(run: [number, number][], below: Values | undefined, { x, y }: Axes, color: string, fill: number): string {
  const at = (second: number, value: number) => `${x(second).toFixed(1)} ${y(value).toFixed(1)}`;
  if (run.length === 1)
    return run.map(([s, v]) => `<circle cx="${x(s)}" cy="${y(v)}" r="2" fill="${color}"/>`).join('');
  const upper = run.map(([second, value]) => at(second, value)).join('L');
  const lower = run.map(([second]) => at(second, below?.get(second) ?? 0)).reverse();
  return `<path d="M${upper}L${lower.join('L')}Z" fill="${color}" fill-opacity="${fill}"/><path d="M${upper}" fill="none" stroke="${color}" stroke-width="1.5"/>`;
}

/** Two to five steps of 1, 2 or 5 times a power of the base up to the highest value. */
function scale(highest: number, base: number): { step: number; top: number } {
  if (highest === 0) return { step: 1, top: 1 };
  const power = base ** Math.floor(Math.log(highest / 4) / Math.log(base));
  const step = base === 2 ? power * 2 : ([1, 2, 5, 10].find((n) => n * power * 4 >= highest) as number) * power;
  return { step, top: Math.ceil((highest / step) * 1.02) * step };
}

const UNITS: { readonly [unit: string]: readonly [divisor: number, suffix: string][] } = {
  s: [
    [1, ' s'],
    [1e-3, ' ms'],
    [1e-6, ' µs'],
  ],
  bytes: [
    [2 ** 30, ' GiB'],
    [2 ** 20, ' MiB'],
    [2 ** 10, ' KiB'],
  ],
  reqps: [[1, ' req/s']],
  percentunit: [[0.01, ' %']],
  short: [
    [1e6, ' M'],
    [1e3, ' K'],
    [1, ''],
  ],
};

function format(value: number, unit: string, step: number): string {
  if (value === 0) return '0';
  if (unit === 'currencyUSD') return `$${value.toFixed(decimals(step))}`;
  const units = UNITS[unit];
  if (units === undefined) throw new Error(`The unit ${unit} is not known here.`);
  const [divisor, suffix] = units.find(([size]) => value >= size) ?? units.at(-1) ?? [1, ''];
  return `${(value / divisor).toFixed(decimals(step / divisor))}${suffix}`;
}

const decimals = (step: number) => Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
