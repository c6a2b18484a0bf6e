/** How verification compares the sums behind reports with the calls and sums that they are made of: each statement sees one snapshot. */

import { HOUR_MS } from '../../canonical/time.ts';
import { type Database, raw, type Statement, sql } from '../database.ts';
import type { SumLine, SumsReader } from '../verify/sums-reader.ts';
import { FIGURE_NAMES, FIGURES, type FigureColumns, SUMS_OF_CALLS } from './sum-columns.ts';
import { type DayEngine, sumsOfHours } from './usage-days.ts';

export const between = (from: number, to: number) => sql`calls.at >= ${from * HOUR_MS} AND calls.at < ${to * HOUR_MS}`;

/** A call with a cost and exactly one charge, as almost all are. */
const IS_CHARGED = `coalesce((SELECT 1 FROM entries WHERE entries.account = calls.account AND entries.seq = calls.entry_seq
  AND entries.call_id = calls.id AND entries.amount = - calls.cost LIMIT 1), 0) = 1 AND calls.completion_seq IS NULL`;
const IS_FREE = 'calls.cost = 0 AND calls.entry_seq IS NULL AND calls.completion_seq IS NULL';
/** A call of a release without sums by provider: it wrote no receipts, and a process of this release may have completed the record. */
const IS_OLDER = 'calls.receipt IS NULL OR calls.completion_seq IS NOT NULL';

/** `made`: what a sum should be. `kept`: what it is. */
const MADE = FIGURE_NAMES.map((name) => `made_${name}`);
const KEPT = FIGURE_NAMES.map((name) => `kept_${name}`);
const DIFFERS = FIGURE_NAMES.map((name) => `made_${name} <> kept_${name}`).join(' OR ');

const OLDER_NAMES = ['calls', 'cost', 'input_tokens', 'output_tokens'] as const;
const OLDER = [...OLDER_NAMES.map((name) => `older_${name}`), 'older_saved', 'older_lost'];
const sumOf = (condition: string, figure: string | number) =>
  `CAST(sum(CASE WHEN ${condition} THEN ${figure} ELSE 0 END) AS BIGINT)`;
/** What caches save may be below zero. */
const OLDER_SUMS = [
  ...OLDER_NAMES.map((name) => `${sumOf(IS_OLDER, name === 'calls' ? 1 : `calls.${name}`)} AS older_${name}`),
  `${sumOf(`(${IS_OLDER}) AND calls.saved > 0`, 'calls.saved')} AS older_saved`,
  `${sumOf(`(${IS_OLDER}) AND calls.saved < 0`, 'calls.saved')} AS older_lost`,
].join(', ');

/** What a column of the sum lacks is no more than the calls of an older release have in it. */
function isExplained(name: (typeof FIGURE_NAMES)[number]): string {
  const lacking = `made_${name} - kept_${name}`;
  if (name === 'calls') return `${lacking} BETWEEN 1 AND older_calls`;
  if (name === 'saved') return `${lacking} BETWEEN older_lost AND older_saved`;
  const isOfOlder = (OLDER_NAMES as readonly string[]).includes(name);
  return `${lacking} BETWEEN 0 AND ${isOfOlder ? `older_${name}` : '0'}`;
}
const [OF_CALLS, ...OF_OTHERS] = FIGURE_NAMES.map(isExplained);
/** What the sum lacks can be calls of an older release, and nothing else. */
const IS_EXPLAINED = `${OF_CALLS} AND (completed > 0 OR (${OF_OTHERS.join(' AND ')}))`;

const COMPARED = [...MADE, ...KEPT];
const BOTH = raw(COMPARED.join(', '));
const zeros = (names: readonly string[]) => names.map((name) => `0 AS ${name}`).join(', ');
const added = (names: readonly string[]) => names.map((name) => `CAST(sum(${name}) AS BIGINT) AS ${name}`).join(', ');

/** Sums beside stored sums, added up instead of joined, because a join of the two has no index. `more`: columns that `made` alone has. */
function compared(groups: string, made: Statement, stored: Statement, more: readonly string[] = []): Statement {
  const ofMade = [...FIGURE_NAMES.map((name) => `${name} AS made_${name}`), zeros(KEPT), ...more].join(', ');
  const ofStored = [zeros(MADE), FIGURES, ...(more.length > 0 ? [zeros(more)] : [])].join(', ');
  return sql`SELECT ${raw(groups)}, ${raw(added([...COMPARED, ...more]))} FROM (
      SELECT ${raw(groups)}, ${raw(ofMade)} FROM ${made} UNION ALL SELECT ${raw(groups)}, ${raw(ofStored)} FROM ${stored}
    ) AS parts GROUP BY ${raw(groups)}`;
}

const PLACE = 'account, hour, key, model';
const HOUR = raw(`calls.at / ${HOUR_MS} AS hour`);
const inHours = (from: number, to: number) => sql`hour >= ${from} AND hour < ${to}`;

/** One pass over the calls for both tables of hourly sums and for the charges. A line of the kinds `doubtful` and `older` has a number of calls. */
function hourLines(from: number, to: number): Statement {
  const more = [...OLDER, 'completed'];
  const count = (kind: string, calls: string) =>
    raw(
      `SELECT '${kind}', '', 0, '', '', '', CAST(coalesce(sum(${calls}), 0) AS BIGINT), ${COMPARED.slice(1)
        .map(() => '0')
        .join(', ')}`,
    );
  return sql`WITH made AS MATERIALIZED (
      SELECT account, ${HOUR}, key, model, provider, ${raw(SUMS_OF_CALLS)}, ${raw(OLDER_SUMS)},
        ${raw(sumOf('calls.completion_seq IS NOT NULL', 1))} AS completed,
        ${raw(sumOf(`NOT ((${IS_FREE}) OR (${IS_CHARGED}))`, 1))} AS doubtful
      FROM calls WHERE ${between(from, to)} GROUP BY 1, 2, 3, 4, 5
    ), by_provider AS MATERIALIZED (
      ${compared(`${PLACE}, provider`, raw('made'), sql`usage_sums WHERE tag = '' AND ${inHours(from, to)}`, more)}
    )
    SELECT 'model' AS kind, ${raw(PLACE)}, '' AS provider, ${BOTH}
      FROM (${compared(PLACE, raw('made'), sql`call_sums WHERE ${inHours(from, to)}`)}) AS by_model WHERE ${raw(DIFFERS)}
    UNION ALL SELECT 'provider', ${raw(PLACE)}, provider, ${BOTH} FROM by_provider
      WHERE (${raw(DIFFERS)}) AND NOT (${raw(IS_EXPLAINED)})
    UNION ALL ${count('doubtful', 'doubtful')} FROM made
    UNION ALL ${count('older', 'made_calls - kept_calls')} FROM by_provider WHERE (${raw(DIFFERS)}) AND (${raw(IS_EXPLAINED)})`;
}

/** Each tag has the calls that it is on, with no exception: older releases know no tags. */
function tagLines(from: number, to: number): Statement {
  const groups = `${PLACE}, provider, tag`;
  const made = sql`(
      SELECT account, ${HOUR}, key, model, provider, tag, ${raw(SUMS_OF_CALLS)}
      FROM call_tags JOIN calls ON calls.id = call_tags.id AND calls.at = call_tags.at
      WHERE call_tags.at >= ${from * HOUR_MS} AND call_tags.at < ${to * HOUR_MS} AND ${between(from, to)}
      GROUP BY 1, 2, 3, 4, 5, 6
    ) AS made`;
  const lines = compared(groups, made, sql`usage_sums WHERE tag <> '' AND ${inHours(from, to)}`);
  return sql`SELECT ${raw(groups)}, ${BOTH} FROM (${lines}) AS lines WHERE ${raw(DIFFERS)}`;
}

/** Whether the day is summed is read in the same snapshot. */
function dayLines(day: number, rowsOfEach: DayEngine['rowsOfEach']): Statement {
  const groups = 'account, key, model, provider, tag';
  const lines = compared(groups, sql`(${sumsOfHours(day, rowsOfEach)}) AS made`, sql`usage_days WHERE day = ${day}`);
  return sql`SELECT ${raw(groups)}, ${BOTH} FROM (${lines}) AS lines
    WHERE (${raw(DIFFERS)}) AND EXISTS (SELECT 1 FROM usage_days_done WHERE day = ${day} AND done = 1)`;
}

export function sumsReader(all: Database['all'], rowsOfEach: DayEngine['rowsOfEach']): SumsReader {
  const lines = async (statement: Statement) => (await all<SumLineColumns>(statement)).map(toLine);
  return {
    async hours(from, to) {
      const rows = await all<SumLineColumns & { kind: string }>(hourLines(from, to));
      const linesOf = (kind: string) => rows.filter((row) => row.kind === kind);
      const countOf = (kind: string) => Number(linesOf(kind)[0]?.made_calls ?? 0n);
      return {
        byModel: linesOf('model').map(({ kind: _, provider: __, ...row }) => toLine(row)),
        byProvider: linesOf('provider').map(({ kind: _, ...row }) => toLine(row)),
        olderCalls: countOf('older'),
        hasDoubtful: countOf('doubtful') > 0,
      };
    },

    tags: (from, to) => lines(tagLines(from, to)),

    async days() {
      const rows = await all<{ day: bigint; calls: bigint; cost: bigint }>(
        sql`SELECT done.day AS day, ${raw(added(['calls', 'cost']))} FROM usage_days_done AS done
          LEFT JOIN usage_days ON usage_days.day = done.day AND tag = '' WHERE done = 1 GROUP BY done.day ORDER BY done.day`,
      );
      return rows.map(({ day, calls, cost }) => ({ day: Number(day), calls: Number(calls ?? 0n), cost: cost ?? 0n }));
    },

    day: (day) => lines(dayLines(day, rowsOfEach)),

    async olderCalls({ account, key, model }, from, to) {
      const [row] = await all<{ calls: bigint }>(
        sql`SELECT count(*) AS calls FROM calls WHERE account = ${account} AND key = ${key} AND model = ${model}
          AND ${between(from, to)} AND (${raw(IS_OLDER)})`,
      );
      return Number(row?.calls ?? 0n);
    },
  };
}

type SumLineColumns = {
  account: string;
  key: string;
  model: string;
  hour?: bigint;
  provider?: string;
  tag?: string;
} & {
  [figure in `${'made' | 'kept'}_${keyof FigureColumns}`]: bigint;
};

function toLine(row: SumLineColumns): SumLine {
  const { account, key, model, hour, provider, tag } = row;
  const wrong: { [figure: string]: { made: bigint; kept: bigint } } = {};
  for (const name of FIGURE_NAMES) {
    const [made, kept] = [row[`made_${name}`], row[`kept_${name}`]];
    if (made !== kept) wrong[name] = { made, kept };
  }
  const of = { account, key, model, ...(provider !== undefined && { provider }), ...(tag !== undefined && { tag }) };
  return { ...of, ...(hour !== undefined && { hour: Number(hour) }), wrong };
}
