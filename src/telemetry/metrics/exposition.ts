/** Writes metric families as Prometheus text (version 0.0.4) or OpenMetrics text (version 1.0.0). */
import type { MetricFamily, Sample } from './family.ts';

export type MetricsFormat = 'prometheus' | 'openmetrics';

export const CONTENT_TYPES: { readonly [format in MetricsFormat]: string } = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** The metrics of one process. Absent number: there is only one. */
export interface ScrapedProcess {
  readonly process?: number;
  readonly families: readonly MetricFamily[];
}

/** OpenMetrics only for a client that names it and does not prefer plain text, as Prometheus does. */
export function formatFor(accept: string | null | undefined): MetricsFormat {
  let open = 0;
  let plain = 0;
  for (const part of (accept ?? '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = part.split(';').map((one) => one.trim());
    const weight = parameters.find((one) => one.startsWith('q='));
    const q = weight === undefined ? 1 : Number(weight.slice(2)) || 0;
    if (type === 'application/openmetrics-text') {
      const version = parameters.find((one) => one.startsWith('version='))?.slice('version='.length);
      if (version === undefined || /^"?(1\.0\.0|0\.0\.1)"?$/.test(version)) open = Math.max(open, q);
    } else if (type === 'text/plain' || type === 'text/*' || type === '*/*') plain = Math.max(plain, q);
  }
  return open > 0 && open >= plain ? 'openmetrics' : 'prometheus';
}

/**
 * Merges processes: every series gets the number of its process as a label, because counters of a replaced process begin again at zero,
 * which Prometheus only understands series by series. What all processes read from the same database is written once. A family stays
 * together, as both formats require.
 */
export function writeMetrics(scraped: readonly ScrapedProcess[], format: MetricsFormat): string {
  const merged = new Map<string, { family: MetricFamily; lines: string[] }>();
  for (const { process, families } of scraped) {
    for (const family of families) {
      const known = merged.get(family.name);
      if (known && family.isShared) continue;
      const entry = known ?? { family, lines: [] };
      merged.set(family.name, entry);
      const from = process === undefined || family.isShared ? '' : `process="${process}"`;
      for (const sample of family.samples) writeSample(family, sample, from, entry.lines);
    }
  }
  let text = '';
  for (const { family, lines } of merged.values()) {
    text += head(family, format);
    for (const line of lines) text += `${line}\n`;
  }
  return format === 'openmetrics' ? `${text}# EOF\n` : text;
}

/** OpenMetrics names a counter without `_total`, and its unit where the name ends with one. */
function head({ name, type, help }: MetricFamily, format: MetricsFormat): string {
  if (format === 'prometheus') return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
  const bare = type === 'counter' ? name.replace(/_total$/, '') : name;
  const unit = UNITS.find((one) => bare.endsWith(`_${one}`));
  const described = unit === undefined ? '' : `# UNIT ${bare} ${unit}\n`;
  return `# TYPE ${bare} ${type}\n${described}# HELP ${bare} ${escapeHelp(help).replaceAll('"', '\\"')}\n`;
}

const UNITS = ['seconds', 'bytes', 'usd'];

function writeSample(family: MetricFamily, sample: Sample, from: string, lines: string[]): void {
  const { name } = family;
  let labels = from;
  for (const [at, value] of sample.labels.entries()) {
    if (value !== '') labels += `${labels === '' ? '' : ','}${family.labels[at]}="${escapeLabel(value)}"`;
  }
  const { bounds, counts } = sample;
  if (!bounds || !counts) {
    lines.push(`${name}${braced(labels)} ${sample.value}`);
    return;
  }
  const before = labels === '' ? '' : `${labels},`;
  let total = 0;
  for (const [at, count] of counts.entries()) {
    total += count;
    lines.push(`${name}_bucket{${before}le="${boundText(bounds[at])}"} ${total}`);
  }
  lines.push(`${name}_sum${braced(labels)} ${sample.value}`, `${name}_count${braced(labels)} ${total}`);
}

const braced = (labels: string) => (labels === '' ? '' : `{${labels}}`);

/** Always with a point, as OpenMetrics wants it: the series has the same name in both formats. */
function boundText(bound: number | undefined): string {
  if (bound === undefined) return '+Inf';
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

const escapeHelp = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeLabel = (text: string) => escapeHelp(text).replaceAll('"', '\\"');
