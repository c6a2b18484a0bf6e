/**
 * `npm run docs`: writes the tables of the reference pages that are derived from the code: providers, commands, metrics. `--check` (a step
 * of `npm run check`) only reports differences. A table is between `<!-- table: NAME -->` and `<!-- end -->`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../src/cli/run-command.ts';
import { hourlyFamilies } from '../src/hourly-calls.ts';
import { PROVIDERS } from '../src/providers/index.ts';
import { captureFamilies } from '../src/telemetry/captures/captures.ts';
import { createMetrics } from '../src/telemetry/metrics/metrics.ts';
import { exportFamilies } from '../src/telemetry/traces/exporter.ts';
import { type Fault, ROOT, report } from './source-files.ts';

interface Table {
  page: string;
  name: string;
  write(): string | Promise<string>;
}

const TABLES: readonly Table[] = [
  { page: 'docs/reference/providers.md', name: 'providers', write: providersTable },
  { page: 'docs/reference/cli.md', name: 'commands', write: commandsText },
  { page: 'docs/reference/metrics.md', name: 'metrics', write: metricsTable },
];

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
const code = (text: string) => `\`${text}\``;
const head = (...names: string[]) => [row(names), row(names.map(() => '---'))];

function providersTable(): string {
  const lines = [...PROVIDERS.values()].map((provider) => {
    const { name, baseUrl, credentialVariable, credentialVariables = [], baseUrlVariable, speaks, video } = provider;
    const variables = [
      ...(credentialVariable ? [code(credentialVariable)] : []),
      ...(credentialVariables.length > 0 ? [credentialVariables.map(code).join(' and ')] : []),
      ...(baseUrlVariable ? [code(baseUrlVariable)] : []),
    ];
    const kinds = Object.entries(speaks).map(([kind, formats]) => `${kind}: ${formats.map(code).join(', ')}`);
    const made = [...kinds, ...(video && !speaks.video ? ['video'] : [])];
    const address = baseUrl ? code(baseUrl) : provider.addressOf ? 'from its settings' : 'yours';
    return row([code(name), variables.join(' or '), address, made.join('; ')]);
  });
  return [...head('type', 'environment variable', 'address', 'kinds and the formats they are sent in'), ...lines].join(
    '\n',
  );
}

async function commandsText(): Promise<string> {
  const names = (await help()).flatMap((line) => /^ {2}([a-z][a-z -]*?) {2,}\S/.exec(line)?.[1] ?? []);
  const lines: string[] = [];
  for (const name of names) {
    const output = await help(name);
    // The help of a word with which other commands begin (`health`) has these too.
    const others = names.filter((other) => other.startsWith(`${name} `));
    const isOf = (line: string, command: string) => `${line} `.startsWith(`modelport ${command} `);
    const at = output.findIndex((line) => isOf(line, name) && !others.some((other) => isOf(line, other)));
    const [usage = '', summary = ''] = output.slice(at);
    const shown = code(usage.replaceAll('|', '\\|'));
    lines.push(row([shown, summary.trim().replaceAll('|', '\\|')]));
  }
  return [...head('command', 'what it does'), ...lines].join('\n');
}

async function help(command?: string): Promise<string[]> {
  const lines: string[] = [];
  const terminal = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
  // Help needs no modules.
  const open = { terminal, version: '', close: () => Promise.resolve() } as unknown as Parameters<typeof runCommand>[1];
  await runCommand(['help', ...(command === undefined ? [] : [command])], open);
  return lines;
}

/** Taken from what `/metrics` collects, so that every name and label occurs. */
async function metricsTable(): Promise<string> {
  const metrics = createMetrics(0);
  metrics.redisIsUp(true);
  metrics.add(exportFamilies);
  metrics.add(captureFamilies);
  metrics.add(hourlyFamilies);
  const families = await metrics.collect({
    gateway: { active: 0 },
    catalog: { list: () => [], routing: { targetState: () => Promise.reject() as never } },
    store: { heldSum: () => Promise.resolve({ open: 0, amount: 0n }) },
  });
  const lines = families.map(({ name, type, labels, help }) =>
    row([code(name), type, labels.map(code).join(', '), help]),
  );
  return [...head('metric', 'type', 'labels', 'meaning'), ...lines].join('\n');
}

const START = (name: string) => `<!-- table: ${name} -->`;
const END = '<!-- end -->';

/** The page with the table, or `undefined` if the page has no marks for it. */
export function withTable(page: string, name: string, table: string): string | undefined {
  const from = page.indexOf(START(name));
  const to = page.indexOf(END, from);
  if (from < 0 || to < 0) return undefined;
  return `${page.slice(0, from)}${START(name)}\n\n${table}\n\n${page.slice(to)}`;
}

if (import.meta.main) {
  const check = process.argv.includes('--check');
  const faults: Fault[] = [];
  for (const { page, name, write } of TABLES) {
    const path = join(ROOT, page);
    const before = readFileSync(path, 'utf8');
    const after = withTable(before, name, await write());
    if (after === undefined) faults.push(`${page}: has no marks for the table "${name}"`);
    else if (check && after !== before) faults.push(`${page}: the table "${name}" is outdated: run npm run docs`);
    else if (!check) writeFileSync(path, after);
  }
  report('reference docs', faults);
}
