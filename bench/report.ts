/** The benchmark's result as data, as a table for the terminal, and as a documentation page. Pure functions. */
import type { Baseline, Figures, GatewayResult, WindowFigure } from './figures.ts';
import type { MachineUse } from './machine.ts';
import { METHOD } from './method.ts';
import { quartiles, REFERENCE, referenceOf, windowRatios } from './ratios.ts';
import { targetRows, targetsOf } from './targets.ts';

export interface Result {
  at: string;
  system: string;
  cores: number;
  /** Of requests and of chunks in which the gateways took turns. */
  windows: number;
  /** The length of what was measured of one gateway alone. */
  seconds: number;
  baseline: Baseline;
  /** What else the machine did during the run. */
  machine: MachineUse & { loadBefore: number };
  gateways: GatewayResult[];
  /** What could not be run, one sentence each. */
  missing: string[];
}

const ROWS: readonly { figure: keyof Figures; label: string; digits: number }[] = [
  { figure: 'requestsPerSecond', label: 'requests a second', digits: 0 },
  { figure: 'cpuPerRequestUs', label: 'CPU per request, µs', digits: 0 },
  { figure: 'loopCpuPerRequestUs', label: '  of which the event loop', digits: 0 },
  { figure: 'totalCpuPerRequestUs', label: '  with what runs between windows', digits: 0 },
  { figure: 'cpuPerChunkUs', label: 'CPU per streamed chunk, µs', digits: 1 },
  { figure: 'pacedP99Ms', label: 'p99 at 200 requests a second, ms', digits: 2 },
  { figure: 'addedP50Ms', label: 'added latency p50, ms', digits: 2 },
  { figure: 'addedP99Ms', label: 'added latency p99, ms', digits: 2 },
  { figure: 'addedFirstTokenP99Ms', label: 'added first token p99, ms', digits: 2 },
  { figure: 'memoryIdleMb', label: 'memory idle, MB', digits: 0 },
  { figure: 'memoryStreamsMb', label: 'memory at 500 streams, MB', digits: 0 },
  { figure: 'memoryManyStreamsMb', label: 'memory at 5,000 streams, MB', digits: 0 },
  { figure: 'largestProcessMb', label: '  of which its largest process', digits: 0 },
  { figure: 'memoryAfterMb', label: 'memory after them, MB', digits: 0 },
  { figure: 'lateFramesPercent', label: 'late chunks of 500 streams, %', digits: 2 },
  { figure: 'coldStartSeconds', label: 'cold start, s', digits: 2 },
  { figure: 'harnessCores', label: 'cores used by load and upstream', digits: 2 },
  { figure: 'failures', label: 'failed requests', digits: 0 },
];

/** The rows in which gateways are compared: not what the harness did, nor parts of other rows. */
const COMPARED = ROWS.filter(
  ({ figure }) => !['harnessCores', 'loopCpuPerRequestUs', 'largestProcessMb', 'pacedP99Ms'].includes(figure),
);

function cell({ figures, ratios, name }: GatewayResult, { figure, digits }: (typeof ROWS)[number]): string {
  const value = Number.isNaN(figures[figure]) ? '-' : figures[figure].toFixed(digits);
  const ratio = ratios?.[figure];
  return ratio === undefined || Number.isNaN(ratio) || name === REFERENCE
    ? value
    : `${value} (${ratio.toFixed(ratio < 10 ? 2 : 0)} x)`;
}

function cells({ gateways }: Result): string[][] {
  return [
    ['', ...gateways.map(({ title, version }) => `${title} ${version}`)],
    ...ROWS.map((row) => [row.label, ...gateways.map((gateway) => cell(gateway, row))]),
  ];
}

function harness({ baseline }: Result): string {
  return (
    `The harness alone, straight to its upstream: ${baseline.requestsPerSecond.toFixed(0)} requests a second, ` +
    `p50 ${baseline.p50Ms.toFixed(2)} ms, p99 ${baseline.p99Ms.toFixed(2)} ms, ` +
    `first token p99 ${baseline.firstTokenP99Ms.toFixed(2)} ms, late chunks ${baseline.lateFramesPercent.toFixed(2)} %.`
  );
}

/** How much the figures are worth: what else the machine did. */
function machineLine({ machine: { otherCores, load, loadBefore } }: Result): string {
  const others = Number.isNaN(otherCores) ? '' : ` Other programs used ${otherCores.toFixed(2)} cores during the run.`;
  return `Load average ${loadBefore.toFixed(2)} before the run, ${load.toFixed(2)} after it.${others}`;
}

const SPREAD_ROWS: readonly { figure: WindowFigure; label: string; digits: number }[] = [
  { figure: 'cpuPerRequestUs', label: 'CPU per request', digits: 1 },
  { figure: 'loopCpuPerRequestUs', label: '  of which the event loop', digits: 1 },
  { figure: 'cpuPerChunkUs', label: 'CPU per streamed chunk', digits: 1 },
  { figure: 'pacedP99Ms', label: 'p99 at 200 requests a second', digits: 2 },
];

/** The quartiles of the windows: the reference's own, and of the others their ratios to it. */
function spreads({ gateways }: Result): string[][] {
  const reference = referenceOf(gateways);
  const together = gateways.filter(({ isOther = false }) => !isOther);
  const range = (gateway: GatewayResult, { figure, digits }: (typeof SPREAD_ROWS)[number]) => {
    const isRatio = reference !== undefined && gateway !== reference;
    const values = isRatio ? windowRatios(gateway, reference, figure) : gateway.windows[figure];
    const [from, to] = quartiles(values).map((value) => value.toFixed(isRatio ? 2 : digits));
    return `${from} to ${to}${isRatio ? ' x' : figure.endsWith('Ms') ? ' ms' : ' µs'}`;
  };
  return [
    ['half of the windows', ...together.map(({ title }) => title)],
    ...SPREAD_ROWS.map((row) => [row.label, ...together.map((gateway) => range(gateway, row))]),
  ];
}

const doesLines = ({ gateways }: Result): string[] =>
  gateways.map(
    ({ title, version, does, settings }) =>
      `${title} ${version}: ${does}.${settings === undefined ? '' : ` Settings: ${settings}.`}`,
  );

/** Where a gateway of others has a better figure than this one. */
export function betterOthers({ gateways }: Result): string[] {
  const ours = gateways.find(({ name }) => name === 'modelport');
  const others = gateways.filter(({ isOther }) => isOther);
  if (!ours || others.length === 0) return [];
  const better = others.map((other) => {
    const rows = COMPARED.filter(({ figure, digits }) => {
      const [theirs, own] = [other.figures[figure], ours.figures[figure]].map((value) => Number(value.toFixed(digits)));
      return figure === 'requestsPerSecond' ? Number(theirs) > Number(own) : Number(theirs) < Number(own);
    });
    const list = rows.map(
      ({ figure, label, digits }) =>
        `${label.trim()} (${other.figures[figure].toFixed(digits)} against ${ours.figures[figure].toFixed(digits)})`,
    );
    return `${other.title}: ${list.length === 0 ? 'nothing' : list.join('; ')}.`;
  });
  return [`Better than ${ours.title} ${ours.version}:`, ...better.map((line) => `- ${line}`)];
}

const targetsIn = ({ gateways, cores }: Result): string[][] => targetRows(targetsOf(gateways, cores));

export function writeTable(result: Result): string {
  const tables = [cells(result), spreads(result), targetsIn(result)].map(aligned);
  return [
    ...tables.flatMap((lines) => [...lines, '']),
    harness(result),
    machineLine(result),
    ...doesLines(result),
    ...betterOthers(result),
    ...result.missing,
  ].join('\n');
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) =>
    row
      .map((text, column) => (column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0)))
      .join('  '),
  );
}

function markdown([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]) => `| ${row.map((text) => text.trim()).join(' | ')} |`;
  return [line(head), line(head.map((_, column) => (column === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

const section = (title: string, [head = '', ...lines]: readonly string[]): string =>
  head === '' ? '' : `${title}\n\n${head}\n\n${lines.join('\n')}\n\n`;

export function writePage(result: Result): string {
  return `# Benchmarks

Written by \`npm run bench -- --write-docs\` on ${result.at.slice(0, 10)}: ${result.system}, ${result.cores} cores,
shared by the gateway, the load and the upstream. Processor time, requests a second and p99 are medians of windows in which the gateways take turns
(${result.windows} for requests and for chunks), the rest is measured for ${result.seconds} s; in brackets the ratio to nginx.

${markdown(cells(result))}

## Targets

${markdown(targetsIn(result))}

## The run

${[harness(result), machineLine(result), ...result.missing].join('\n\n')}

Half of the windows lie between these quartiles: nginx's own figures, and the others' ratios to nginx in the same round.

${markdown(spreads(result))}

${doesLines(result)
  .map((line) => `- ${line}`)
  .join('\n')}

${section('## Where others are better', betterOthers(result))}${METHOD}`;
}
