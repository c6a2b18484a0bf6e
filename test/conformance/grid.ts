/** The golden grid: every recording in every format, its faults, and the share that is correct. */
import { consumeAll } from './consume.ts';
import { sources, TARGETS, type Translation, translationsOf } from './translate-replies.ts';
import { type RequestTranslation, requestSources, requestTranslationsOf } from './translate-requests.ts';

export interface Grid {
  replies: Translation[];
  requests: RequestTranslation[];
}

/** The whole grid, also read by the official libraries. */
export async function runGrid(): Promise<Grid> {
  const grid = writeGrid();
  const seen = await consumeAll(grid.replies);
  for (const [index, faults] of seen.entries()) grid.replies[index]?.faults.push(...faults);
  return grid;
}

/** The whole grid, written and read by the gateway's own code only. */
export function writeGrid(): Grid {
  return {
    replies: sources().flatMap(translationsOf),
    requests: requestSources().flatMap(requestTranslationsOf),
  };
}

/** One cell of the matrix: the number of translations, and how many are correct. */
export interface UsageCounter {
  passed: number;
  all: number;
}

export interface Row {
  feature: string;
  /** By the provider's format, then by the client's. */
  cells: Map<string, Map<string, UsageCounter>>;
}

export interface Matrix {
  /** Client format x provider format x feature, non-streaming and streaming. */
  cells: UsageCounter;
  translations: UsageCounter;
  rows: Row[];
  targets: string[];
}

/** A cell is correct if all its translations are. */
export function matrixOf({ replies, requests }: Grid): Matrix {
  const rows = new Map<string, Row>();
  const cells = new Map<string, UsageCounter>();
  const translations: UsageCounter = { passed: 0, all: 0 };
  for (const translation of [...replies, ...requests]) {
    const isRight = translation.faults.length === 0;
    count(translations, isRight);
    const { source, target } = translation;
    const way = 'stream' in translation && translation.stream ? 'stream' : 'whole';
    // A request is written for a provider: there the recording's format is the client's.
    const [client, provider] = 'stream' in translation ? [target, source.dialect] : [source.dialect, target];
    for (const feature of source.features) {
      count(counterIn(rows, feature, provider.name, client.name), isRight);
      const cell = `${feature} ${provider.name} ${client.name} ${way}`;
      const usageCounter = cells.get(cell) ?? { passed: 0, all: 0 };
      cells.set(cell, usageCounter);
      count(usageCounter, isRight);
    }
  }
  const passed = [...cells.values()].filter((usageCounter) => usageCounter.passed === usageCounter.all).length;
  const targets = TARGETS.map(({ name }) => name);
  const often = (row: Row) => sum([...row.cells.values()].flatMap((byClient) => [...byClient.values()])).all;
  const sorted = [...rows.values()].toSorted((a, b) => often(b) - often(a));
  return { cells: { passed, all: cells.size }, translations, rows: sorted, targets };
}

function count(usageCounter: UsageCounter, isRight: boolean): void {
  usageCounter.all++;
  if (isRight) usageCounter.passed++;
}

function counterIn(rows: Map<string, Row>, feature: string, provider: string, client: string): UsageCounter {
  const row = rows.get(feature) ?? { feature, cells: new Map() };
  rows.set(feature, row);
  const byClient = row.cells.get(provider) ?? new Map<string, UsageCounter>();
  row.cells.set(provider, byClient);
  const usageCounter = byClient.get(client) ?? { passed: 0, all: 0 };
  byClient.set(client, usageCounter);
  return usageCounter;
}

/** The figures in one line. */
export function summaryOf({ cells, translations }: Matrix): string {
  return `${cells.passed} of ${cells.all} cells (client format x provider format x feature, whole and stream) in ${translations.passed} of ${translations.all} translations`;
}

export function writeMatrix(matrix: Matrix): string {
  const { rows, targets } = matrix;
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const table = (title: string, cellOf: (row: Row, target: string) => UsageCounter, kept: readonly Row[]) => [
    `## ${title}`,
    '',
    line(['feature', ...targets]),
    line(['---', ...targets.map(() => '---:')]),
    ...kept.map((row) => line([row.feature, ...targets.map((target) => shown(cellOf(row, target)))])),
    '',
  ];
  const byClient = (row: Row, client: string) =>
    sum([...row.cells.values()].flatMap((cells) => cells.get(client) ?? []));
  const byProvider = (row: Row, provider: string) => sum([...(row.cells.get(provider)?.values() ?? [])]);
  const isOfRequests = ({ feature }: Row) => feature.endsWith(' in requests') || feature === 'any request';
  const replies = rows.filter((row) => !isOfRequests(row));
  const requests = rows.filter(isOfRequests);
  return [
    '# Conformance',
    '',
    "Every recorded reply of a provider is translated for clients of every format, streaming and non-streaming, and read by that format's reader and its",
    'official library. Every recorded request is translated for providers of every other format and read again. A cell counts translations that keep the',
    'meaning and report what they cannot express. A dash means that no recording has the feature. Written by `npm run conformance -- --write`.',
    '',
    `**${summaryOf(matrix)}.**`,
    '',
    ...table("Replies, by the client's format", byClient, replies),
    ...table("Replies, by the provider's format", byProvider, replies),
    ...table("Requests, by the client's format", byClient, requests),
    ...table("Requests, by the provider's format", byProvider, requests),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');
}

function sum(counters: readonly UsageCounter[]): UsageCounter {
  return counters.reduce((all, { passed, all: of }) => ({ passed: all.passed + passed, all: all.all + of }), {
    passed: 0,
    all: 0,
  });
}

function shown({ passed, all }: UsageCounter): string {
  if (all === 0) return '–';
  return passed === all ? String(all) : `**${passed} of ${all}**`;
}
