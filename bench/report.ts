/** The benchmark's result as data, as a table for the terminal, and as a documentation page. Pure functions. */

import type { MachineUse } from './machine.ts';
import type { Baseline, Figures, GatewayResult } from './measures.ts';
import { median } from './statistics.ts';
import { targetRows, targetsOf } from './targets.ts';

export interface Result {
  at: string;
  system: string;
  cores: number;
  rounds: number;
  seconds: number;
  baseline: Baseline;
  /** What else the machine did during the run. */
  machine: MachineUse & { loadBefore: number };
  gateways: GatewayResult[];
  /** What could not be run, one sentence each. */
  missing: string[];
}

const YARDSTICK = 'nginx';
/** A smaller added latency is noise of the harness, and has no ratio. */
const LEAST_YARDSTICK_MS = 0.05;

const ROWS: readonly { figure: keyof Figures; label: string; digits: number; ratio: boolean }[] = [
  { figure: 'requestsPerSecond', label: 'requests a second', digits: 0, ratio: true },
  { figure: 'cpuPerRequestUs', label: 'CPU per request, µs', digits: 0, ratio: true },
  { figure: 'loopCpuPerRequestUs', label: '  of which the event loop', digits: 0, ratio: true },
  { figure: 'cpuPerChunkUs', label: 'CPU per streamed chunk, µs', digits: 1, ratio: true },
  { figure: 'pacedP99Ms', label: 'p99 at 200 requests a second, ms', digits: 2, ratio: true },
  { figure: 'addedP50Ms', label: 'added latency p50, ms', digits: 2, ratio: true },
  { figure: 'addedP99Ms', label: 'added latency p99, ms', digits: 2, ratio: true },
  { figure: 'addedFirstTokenP99Ms', label: 'added first token p99, ms', digits: 2, ratio: true },
  { figure: 'memoryIdleMb', label: 'memory idle, MB', digits: 0, ratio: true },
  { figure: 'memoryStreamsMb', label: 'memory at 500 streams, MB', digits: 0, ratio: true },
  { figure: 'memoryManyStreamsMb', label: 'memory at 5,000 streams, MB', digits: 0, ratio: false },
  { figure: 'largestProcessMb', label: '  of which its largest process', digits: 0, ratio: false },
  { figure: 'memoryAfterMb', label: 'memory after them, MB', digits: 0, ratio: true },
  { figure: 'lateFramesPercent', label: 'late chunks of 500 streams, %', digits: 2, ratio: false },
  { figure: 'coldStartSeconds', label: 'cold start, s', digits: 2, ratio: true },
  { figure: 'harnessCores', label: 'cores used by load and upstream', digits: 2, ratio: false },
  { figure: 'failures', label: 'failed requests', digits: 0, ratio: false },
];

/** The rows in which gateways are compared: not what the harness did, nor parts of other rows. */
const COMPARED = ROWS.filter(
  ({ figure }) => !['harnessCores', 'loopCpuPerRequestUs', 'largestProcessMb', 'pacedP99Ms'].includes(figure),
);

/** The median of the rounds for each figure. */
export function medians<Row extends object>(rounds: readonly Row[]): Row {
  const [first] = rounds;
  if (!first) throw new Error('no round was measured');
  const names = Object.keys(first) as (keyof Row)[];
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => Number(round[name])))])) as Row;
}

/** The gateways with their ratios to the reference among them. */
export function withRatios(gateways: readonly GatewayResult[]): GatewayResult[] {
  const yardstick = gateways.find(({ name }) => name === YARDSTICK)?.figures;
  if (!yardstick) return [...gateways];
  return gateways.map((gateway) => {
    const ratios: Partial<Figures> = {};
    for (const { figure, ratio } of ROWS) {
      const least = figure.endsWith('Ms') ? LEAST_YARDSTICK_MS : 0;
      if (ratio && yardstick[figure] > least) ratios[figure] = gateway.figures[figure] / yardstick[figure];
    }
    return { ...gateway, ratios };
  });
}

function cell({ figures, ratios, name }: GatewayResult, { figure, digits }: (typeof ROWS)[number]): string {
  const value = Number.isNaN(figures[figure]) ? '-' : figures[figure].toFixed(digits);
  const ratio = ratios?.[figure];
  return ratio === undefined || Number.isNaN(ratio) || name === YARDSTICK
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

/** How much the figures are worth: what else the machine did, and how far apart the rounds were. */
function machineLine({ machine, gateways }: Result): string {
  const { otherCores, load, loadBefore } = machine;
  const others = Number.isNaN(otherCores) ? '' : ` Other programs used ${otherCores.toFixed(2)} cores during the run.`;
  const spreads = gateways.map(
    ({ title, spread: [least, greatest] }) => `${title} ${least.toFixed(0)} to ${greatest.toFixed(0)}`,
  );
  return (
    `Load average ${loadBefore.toFixed(2)} before the run, ${load.toFixed(2)} after it.${others} ` +
    `CPU per request over the rounds, µs: ${spreads.join(', ')}.`
  );
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
  const tables = [aligned(cells(result)), aligned(targetsIn(result))];
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
shared by the gateway, the load and the upstream. Medians of ${result.rounds} interleaved rounds, gateways of others from the first of them,
${result.seconds} s a measurement; in brackets the ratio to nginx.

${markdown(cells(result))}

## Targets

${markdown(targetsIn(result))}

## The run

${[harness(result), machineLine(result), ...result.missing].join('\n\n')}

${doesLines(result)
  .map((line) => `- ${line}`)
  .join('\n')}

${section('## Where others are better', betterOthers(result))}## How it is measured

- **nginx** is a plain proxy: one worker, connections kept to the upstream, nothing buffered, nothing logged. It is the yardstick:
  it checks no key, reads no body, keeps no account.
- **Modelport** is \`modelport serve\` with everything on: it checks a key, holds money, settles it, and records the call in SQLite and in its log.
- **Portkey** (npm), **LiteLLM** and **LM-Proxy** (PyPI) and **Bifrost** (Go modules) are gateways of others, with the settings that their documentation
  recommends for production. They do less for a call than Modelport does here; what each does is above. One that could not be installed or did not
  withstand the load is named above.
- The upstream and the load generator are processes of their own on raw sockets. Requests are about a kilobyte, replies and chunks
  look like OpenAI's. Streams go from and to the same format, so their chunks pass verbatim.
- Before anything is measured each gateway has answered 60,000 requests, or as many as it can in 20 s, and passed on 100,000 chunks,
  so that its compilers rest; those of others as many as they can in 10 s, and 40,000 chunks.
- *Requests a second* and *CPU per request*: 32 connections, each asking again as soon as it has its answer. CPU and memory are those of the
  gateway's whole process tree, as the system counts them.
  The event loop is the main thread; compilers, the collector and SQLite's writer have threads of their own.
- *CPU per streamed chunk*: 40 streams of a chunk every 5 ms.
- *Added latency*: 200 requests a second, evenly spaced; *first token*: 100 short streams a second; both minus the time of the upstream when called directly.
- *Memory at 500 streams*: the highest seen while 500 streams of a chunk every 50 ms are open. A chunk is *late* when it arrives more than 50 ms after it was sent.
  That is after the requests and chunks above, so garbage lies about as it does in service. What takes the memory: decision 0034.
- *Two processes beside one*: gateway, load and upstream share the cores. Requests a second of two processes are scaled to two whole cores: \`cores used by load and upstream\` are subtracted.
- *Cold start*: from the start of the process, on an empty database, to its first answer to a chat request.
`;
}
