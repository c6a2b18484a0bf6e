/** Reads the text of a scrape strictly, and finds one value in it. Other parsers read the same text in `test/system/metrics-parsers.test.ts`. */

const SERIES = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([A-Za-z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;

export interface ScrapedSeries {
  name: string;
  labels: { [name: string]: string };
  value: number;
}

/** Throws an Error where a line is wrong, a series occurs twice, or a family does not stay together. */
export function readScrape(text: string): ScrapedSeries[] {
  const series: ScrapedSeries[] = [];
  const families = new Map<string, string>();
  const seen = new Set<string>();
  let family = '';
  if (!text.endsWith('\n')) throw new Error('The last line does not end.');
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '# EOF') continue;
    const [, what, described = '', rest = ''] = /^# (HELP|TYPE|UNIT) (\S+) (.*)$/.exec(line) ?? [];
    if (what !== undefined) {
      if (described !== family && families.has(described)) throw new Error(`${described} occurs twice.`);
      family = described;
      families.set(family, what === 'TYPE' ? rest : (families.get(family) ?? ''));
      continue;
    }
    const [, name = '', labels = '', value = ''] = SERIES.exec(line) ?? [];
    if (name === '' || Number.isNaN(Number(value.replace('+Inf', 'Infinity'))))
      throw new Error(`Not a series: ${line}`);
    const bare = families.get(family) === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name;
    if (bare !== family && bare.replace(/_total$/, '') !== family) throw new Error(`${name} stands in ${family}.`);
    if (seen.has(`${name}{${labels}}`)) throw new Error(`Twice: ${line}`);
    seen.add(`${name}{${labels}}`);
    series.push({ name, labels: readLabels(labels), value: Number(value) });
  }
  return series;
}

function readLabels(text: string): { [name: string]: string } {
  const labels: { [name: string]: string } = {};
  for (let rest = text; rest !== ''; ) {
    const [all, name = '', value = ''] = LABEL.exec(rest) ?? [];
    if (all === undefined || name in labels) throw new Error(`Not labels: ${text}`);
    labels[name] = value.replace(/\\(.)/g, (_, one) => (one === 'n' ? '\n' : one));
    rest = rest.slice(all.length);
  }
  return labels;
}

/** The sum of the series with this name and these labels. */
export function sumOf(series: readonly ScrapedSeries[], name: string, labels: { [name: string]: string } = {}): number {
  return series
    .filter((one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
