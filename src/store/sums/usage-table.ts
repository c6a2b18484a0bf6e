/** Reports of usage, from sums of hours and days. Only parts of an hour are summed from its calls. */

import { HOUR_MS } from '../../canonical/time.ts';
import { yieldToLoop } from '../../canonical/yield-to-loop.ts';
import { type Database, joined, raw, type Statement, sql, where } from '../database.ts';
import type { UsageFigures, UsageGroup, UsageSum } from '../rows.ts';
import type { Store } from '../store.ts';
import { addUsage, NO_FIGURES } from './call-sums.ts';
import { sortedInParts } from './sort-lines.ts';
import { type FigureColumns, SUMS_OF_CALLS, SUMS_OF_SUMS } from './sum-columns.ts';
import { doneDays, HOURS_PER_DAY } from './usage-days.ts';
import { spansOf, type UsageSpan } from './usage-spans.ts';

type UsageFilter = Parameters<Store['usage']>[0];

interface SumColumns extends FigureColumns {
  account?: string;
  key?: string;
  model?: string;
  provider?: string;
  tag?: string;
  hour?: bigint;
  /** The index of a period. */
  period?: bigint;
  /** The index of a period from which the row is taken, or `NOTHING`. */
  minus?: bigint;
}

/** A part of an hour that its sum counts in one period, and that belongs to another or to none. */
interface PartOfHour {
  from: number;
  to: number;
  countedIn: number;
  belongsTo?: number;
}

export function usageTable(db: Database): Pick<Store, 'usage'> {
  return {
    async usage(filter) {
      if (filter.from >= filter.to) return [];
      const { limit = MOST_SUMS } = filter;
      const lines = await linesOf(db, { ...filter, limit });
      if (hasRest(filter))
        await addRest(lines, await linesOf(db, { ...filter, limit, groupBy: withoutProvider(filter) }));
      const found = lines.filter(({ calls }) => calls > 0);
      return (await sortedInParts(found, inOrder)).slice(0, limit);
    },
  };
}

async function linesOf(db: Database, filter: UsageFilter): Promise<UsageSum[]> {
  const { from, to, groupBy } = filter;
  const periods = groupBy.includes('hour') ? undefined : filter.periods;
  const starts = [from, ...(periods ?? []).filter((at) => at > from && at < to)];
  const parts = partsOf(starts, to);
  const sums = await sumsOf(db, filter, boundsOf(starts, to));
  const ofParts: SumColumns[][] = [];
  for (let at = 0; at < parts.length; at += PARTS_AT_ONCE) {
    const some = parts.slice(at, at + PARTS_AT_ONCE);
    ofParts.push(...(await Promise.all(some.map((part) => db.scan<SumColumns>(callsOf(filter, part))))));
  }
  const all = new Map<string, UsageSum>();
  const add = (row: SumColumns, period: number, sign: 1 | -1) =>
    addTo(all, { ...groupsOf(row, groupBy), ...(periods && { period: starts[period]! }) }, row, sign);
  await inParts(sums, (row) => {
    add(row, Number(row.period ?? 0n), 1);
    if (row.minus !== undefined && row.minus !== NOTHING) add(row, Number(row.minus), -1);
  });
  for (const [index, { countedIn, belongsTo }] of parts.entries()) {
    for (const row of ofParts[index] ?? []) {
      add(row, countedIn, -1);
      if (belongsTo !== undefined) add(row, belongsTo, 1);
    }
  }
  return [...all.values()];
}

/** A zone with a part of an hour has a part for each day: all at once would take every connection from the ledger. */
const PARTS_AT_ONCE = 2;

/** Hours that begin before a period count in the one before it. */
function boundsOf(starts: readonly number[], to: number): number[] {
  const first = Math.floor(starts[0]! / HOUR_MS);
  return [first, ...starts.slice(1).map((start) => Math.ceil(start / HOUR_MS)), Math.ceil(to / HOUR_MS)];
}

/** Below this the days that are summed are not looked up. */
const FEW_HOURS = 2 * HOURS_PER_DAY;

/** The sums of the hours in `bounds`, from sums of days as far as there are some. */
async function sumsOf(db: Database, filter: UsageFilter, bounds: readonly number[]): Promise<SumColumns[]> {
  const { limit = MOST_SUMS } = filter;
  const [first, end] = [bounds[0]!, bounds.at(-1)!];
  const isShort = filter.groupBy.includes('hour') || end - first < FEW_HOURS;
  const done = isShort ? [] : await doneDays(db, Math.ceil(first / HOURS_PER_DAY), Math.floor(end / HOURS_PER_DAY));
  const { days, hours } = spansOf(bounds, done);
  const hourly = needsProvider(filter) ? 'usage_sums' : 'call_sums';
  const read = (table: string, unit: string, spans: readonly UsageSpan[]) =>
    spans.length === 0 ? [] : db.scan<SumColumns>(spanSums(filter, table, unit, spans));
  const [ofDays, ofHours] = await Promise.all([read('usage_days', 'day', days), read(hourly, 'hour', hours)]);
  // Lines that are cut off could be what is to be taken from others.
  const isCut = days.length > 0 && (ofDays.length >= limit || ofHours.length >= limit);
  return isCut ? read(hourly, 'hour', spansOf(bounds, []).hours) : [...ofDays, ...ofHours];
}

/** Calls that an older program recorded are in the sums of no provider. */
const hasRest = ({ groupBy, provider, tag }: UsageFilter): boolean =>
  groupBy.includes('provider') && !groupBy.includes('tag') && provider === undefined && tag === undefined;

const withoutProvider = ({ groupBy }: UsageFilter): UsageGroup[] => groupBy.filter((group) => group !== 'provider');

/**
 * What is in the whole and in no line gets a line of the provider `''`. A line below zero is a part of an hour whose calls an older program
 * recorded: they were taken from a sum that does not have them.
 */
async function addRest(lines: UsageSum[], whole: readonly UsageSum[]): Promise<void> {
  const placeOf = ({ account, key, model, hour, period }: UsageSum) =>
    JSON.stringify([account, key, model, hour, period]);
  const rests = new Map<string, UsageSum>();
  await inParts(whole, (line) => rests.set(placeOf(line), { ...line, provider: '' }));
  const ofNone = new Map<string, UsageSum>();
  await inParts(lines, (line) => {
    const place = placeOf(line);
    if (line.provider === '') ofNone.set(place, line);
    const rest = line.calls > 0 ? rests.get(place) : undefined;
    if (rest) addUsage(rest, line, -1);
  });
  await inParts([...rests], ([place, rest]) => {
    // As many calls may have to be taken as added.
    if (rest.calls === 0 && rest.cost === 0n && rest.inputTokens === 0 && rest.outputTokens === 0) return;
    const known = ofNone.get(place);
    if (known) addUsage(known, rest, 1);
    else lines.push(rest);
  });
}

/** A report may have 50,000 lines: handled at once they would hold up the calls of this process. */
const ROWS_AT_ONCE = 2000;

async function inParts<Row>(rows: readonly Row[], handle: (row: Row) => unknown): Promise<void> {
  for (const [index, row] of rows.entries()) {
    if (index % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await yieldToLoop();
    handle(row);
  }
}

/** Without a column beside it, Postgres takes a parameter for text. */
const bigint = (value: number): Statement => sql`CAST(${value} AS BIGINT)`;

const MOST_SUMS = 100_000;

/** The column `minus` where nothing is taken. */
const NOTHING = -1n;

function spanSums(
  { from: _from, to: _to, groupBy, limit = MOST_SUMS, ...only }: UsageFilter,
  table: string,
  unit: string,
  spans: readonly UsageSpan[],
): Statement {
  const isOne = spans.length === 1;
  const rows = spans.map(
    ({ first, next, period, minus = -1 }) =>
      sql`(${bigint(period)}, ${bigint(minus)}, ${bigint(first)}, ${bigint(next)})`,
  );
  const column = raw(unit);
  const times = isOne ? [sql`${column} >= ${spans[0]!.first}`, sql`${column} < ${spans[0]!.next}`] : [];
  const source = isOne ? raw(table) : sql`spans JOIN ${raw(table)} ON ${column} >= first AND ${column} < next`;
  const tags = table === 'call_sums' ? [] : tagConditions(groupBy, only.tag);
  const columns = [...columnsOf(groupBy, 'hour'), ...(isOne ? [] : ['period', 'minus'])];
  return sql`${isOne ? raw('') : sql`WITH spans (period, minus, first, next) AS (VALUES ${joined(rows, ', ')}) `}
    SELECT ${raw(columns.map((name) => `${name}, `).join(''))}${isOne ? sql`${bigint(spans[0]!.period)} AS period, ` : raw('')}${raw(SUMS_OF_SUMS)}
    FROM ${source} ${where([...conditionsOf(only), ...tags, ...times])} ${groupedBy(columns.length)} LIMIT ${limit}`;
}

/** Only these sums have the provider, and the tags. */
const needsProvider = ({ groupBy, provider, tag }: Pick<UsageFilter, 'groupBy' | 'provider' | 'tag'>): boolean =>
  provider !== undefined || tag !== undefined || groupBy.includes('provider') || groupBy.includes('tag');

/** Written as the conditions of the indexes. */
function tagConditions(groupBy: readonly UsageGroup[], tag: string | undefined): Statement[] {
  if (tag === undefined) return [raw(groupBy.includes('tag') ? "tag <> ''" : "tag = ''")];
  return [raw("tag <> ''"), sql`tag = ${tag}`];
}

function callsOf(
  { groupBy, from: _from, to: _to, limit = MOST_SUMS, ...only }: UsageFilter,
  part: PartOfHour,
): Statement {
  const columns = columnsOf(groupBy, `calls.at / ${HOUR_MS} AS hour`);
  const byTag = only.tag !== undefined || groupBy.includes('tag');
  const table = byTag ? 'call_tags JOIN calls ON calls.id = call_tags.id AND calls.at = call_tags.at' : 'calls';
  // Of both: from one alone Postgres does not conclude which days of calls it needs, and reads all calls of the account.
  const times = (byTag ? ['calls', 'call_tags'] : ['calls']).flatMap((side) => [
    sql`${raw(side)}.at >= ${part.from}`,
    sql`${raw(side)}.at < ${part.to}`,
  ]);
  const tags = only.tag === undefined ? [] : [sql`tag = ${only.tag}`];
  return sql`SELECT ${raw(columns.map((column) => `${column}, `).join(''))}${raw(SUMS_OF_CALLS)} FROM ${raw(table)}
    ${where([...conditionsOf(only), ...tags, ...times])} ${groupedBy(columns.length)} LIMIT ${limit}`;
}

/**
 * Accounts are an expression so that Postgres does not read a whole index in their order. It plans a parameter as limit as if few lines were
 * enough, and a report by account and day over 144,000 sums took longer than 15 s instead of 0.9 s.
 */
function columnsOf(groupBy: readonly UsageGroup[], hour: string): string[] {
  return groupBy.map((group) => (group === 'hour' ? hour : group === 'account' ? "account || '' AS account" : group));
}

/** By position: a column of the query may have the name of one of the table. */
function groupedBy(columns: number): Statement {
  const positions = Array.from({ length: columns }, (_, index) => index + 1);
  return columns === 0 ? raw('HAVING count(*) > 0') : raw(`GROUP BY ${positions.join(', ')}`);
}

const conditionsOf = ({
  account,
  key,
  model,
  provider,
}: Pick<UsageFilter, 'account' | 'key' | 'model' | 'provider'>) => [
  account === undefined ? undefined : sql`account = ${account}`,
  key === undefined ? undefined : sql`key = ${key}`,
  model === undefined ? undefined : sql`model = ${model}`,
  provider === undefined ? undefined : sql`provider = ${provider}`,
];

function partsOf(starts: readonly number[], to: number): PartOfHour[] {
  const parts: PartOfHour[] = [];
  for (const [index, start] of starts.entries()) {
    const [floor, ceil] = [Math.floor(start / HOUR_MS) * HOUR_MS, Math.ceil(start / HOUR_MS) * HOUR_MS];
    if (floor === ceil) continue;
    if (index === 0) parts.push({ from: floor, to: start, countedIn: 0 });
    else parts.push({ from: start, to: Math.min(ceil, to), countedIn: index - 1, belongsTo: index });
  }
  const end = Math.ceil(to / HOUR_MS) * HOUR_MS;
  // An hour that a period begins in counts in the period before.
  const last = starts.at(-1)!;
  const isLastHour = starts.length > 1 && Math.ceil(last / HOUR_MS) * HOUR_MS >= end && last % HOUR_MS !== 0;
  if (to !== end) parts.push({ from: to, to: end, countedIn: starts.length - (isLastHour ? 2 : 1) });
  return parts;
}

function groupsOf(row: SumColumns, groupBy: readonly UsageGroup[]): Omit<UsageSum, keyof UsageFigures> {
  const groups: { [group in Exclude<UsageGroup, 'hour'>]?: string } & { hour?: number } = {};
  for (const group of groupBy) {
    if (group === 'hour') groups.hour = Number(row.hour ?? 0n) * HOUR_MS;
    else groups[group] = row[group] ?? '';
  }
  return groups;
}

function addTo(
  all: Map<string, UsageSum>,
  of: Omit<UsageSum, keyof UsageFigures>,
  row: SumColumns,
  sign: 1 | -1,
): void {
  const name = JSON.stringify(of);
  let sum = all.get(name);
  if (!sum) {
    sum = { ...of, ...NO_FIGURES };
    all.set(name, sum);
  }
  addUsage(sum, figuresOf(row), sign);
}

const figuresOf = (row: FigureColumns): UsageFigures => ({
  calls: Number(row.calls),
  cost: row.cost,
  inputTokens: Number(row.input_tokens),
  outputTokens: Number(row.output_tokens),
  saved: row.saved,
  providerCost: row.provider_cost,
  costedCalls: Number(row.costed_calls),
  costedCharge: row.costed_charge,
});

/** By time, then by name. */
function inOrder(a: UsageSum, b: UsageSum): number {
  const [timeOfA, timeOfB] = [a.hour ?? a.period ?? 0, b.hour ?? b.period ?? 0];
  if (timeOfA !== timeOfB) return timeOfA - timeOfB;
  for (const group of ['account', 'key', 'model', 'provider', 'tag'] as const) {
    const [one = '', other = ''] = [a[group], b[group]];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}
