/** Which calls a list shows, and by which index they are found. */
import { raw, type Statement, sql, where } from '../database.ts';
import type { CallFilter, CallPlace, CallRow } from '../rows.ts';

/** The call after which a page begins. */
export type Cursor = CallPlace;

/**
 * What finds the calls, by an index that has their order. The other members of the filter are conditions that are checked row by row,
 * written so that no plan begins with them: planners know nothing of how they go together.
 */
export type Finder = 'error' | 'outcome' | 'status' | 'tag' | 'key' | 'account' | 'provider' | 'time';

/** The usually rarest first: most calls succeed. */
const IS_USABLE: { readonly [finder in Finder]?: (filter: CallFilter) => boolean } = {
  error: ({ error }) => error !== undefined,
  outcome: ({ outcome }) => outcome !== undefined && outcome !== 'ok',
  status: ({ status }) => status !== undefined && status !== OK,
  tag: ({ tag }) => tag !== undefined,
  key: ({ key }) => key !== undefined,
  account: ({ account }) => account !== undefined,
  provider: ({ provider }) => provider !== undefined,
};

const OK = 200;
const FINDERS = Object.keys(IS_USABLE) as readonly Finder[];

export const findersOf = (filter: CallFilter): readonly Finder[] =>
  FINDERS.filter((finder) => IS_USABLE[finder]?.(filter));

/** Of more calls than this it does not matter which finder has the fewest. So many are read in a few milliseconds. */
export const MOST_COUNTED = 1000;

/** How many calls the finder finds, up to a maximum. */
export function countMatching(filter: CallFilter, finder: Finder, most: number): Statement {
  const { limit, from, to } = filter;
  const alone = { limit, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const picked: CallFilter = finder === 'time' ? alone : { ...alone, [finder]: filter[finder] };
  const { source, conditions } = foundBy(finder, picked, undefined);
  return sql`SELECT count(*) AS calls FROM (SELECT 1 FROM ${source} ${where(conditions)} LIMIT ${most}) AS found`;
}

/** Tags alone are enough to count what they find: Postgres searches the calls of each in the partitions of all days. */
function foundBy(finder: Finder, found: CallFilter, cursor: Cursor | undefined) {
  if (finder !== 'tag') return { source: raw('calls'), conditions: conditionsOf(found, finder, { cursor }) };
  return { source: raw('call_tags AS tagged'), conditions: tagConditions(found, cursor) };
}

/** Whether the filter may match calls that were not admitted. */
export function includesRefused({ status, error, outcome, provider, tag, costAbove }: CallFilter): boolean {
  if (provider !== undefined || tag !== undefined || (costAbove ?? -1n) >= 0n) return false;
  if (outcome !== undefined && outcome !== 'refused') return false;
  return status !== undefined || error !== undefined || outcome !== undefined;
}

/** Whether calls that are found are also checked one by one, so that a page may read many more than it shows. */
export function hasChecks(filter: CallFilter, finder: Finder): boolean {
  const { limit: _, after: __, from: ___, to: ____, ...conditions } = filter;
  return Object.entries(conditions).some(([name, value]) => value !== undefined && name !== finder);
}

/** The last of the first `examined` calls that are found, checked or not. */
export function endOf(
  { limit, from, to, ...filter }: CallFilter,
  finder: Finder,
  { cursor, examined }: { cursor: Cursor | undefined; examined: number },
): Statement {
  const times = { limit, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const found: CallFilter = finder === 'time' ? times : { ...times, [finder]: filter[finder] };
  return sql`SELECT at, id FROM calls ${where(conditionsOf(found, finder, { cursor }))}
    ORDER BY at DESC, id DESC LIMIT 1 OFFSET ${examined - 1}`;
}

/** The calls of a tag, newest first. */
export const taggedCalls = (filter: CallFilter, cursor: Cursor | undefined): Statement =>
  sql`SELECT at, id FROM call_tags AS tagged ${where(tagConditions(filter, cursor))} ORDER BY at DESC, id DESC LIMIT ${filter.limit}`;

const tagConditions = ({ tag, from, to }: CallFilter, cursor: Cursor | undefined) => [
  sql`tagged.tag = ${tag ?? ''}`,
  from === undefined ? undefined : sql`tagged.at >= ${from}`,
  to === undefined ? undefined : sql`tagged.at < ${cursor ? Math.min(to, cursor.at + 1) : to}`,
  cursor && sql`(tagged.at, tagged.id) < (${cursor.at}, ${cursor.id})`,
];

export function conditionsOf(
  filter: CallFilter,
  finder: Finder,
  { cursor, end }: { cursor?: Cursor | undefined; end?: Cursor | undefined },
): (Statement | undefined)[] {
  const { account, key, model, provider, status, outcome, error, tag, costAbove, from, to } = filter;
  const text = (name: Finder | undefined, column: string, value: string | undefined) =>
    value === undefined ? undefined : sql`${raw(name === finder ? column : `${column} || ''`)} = ${value}`;
  return [
    tag === undefined
      ? undefined
      : sql`EXISTS (SELECT 1 FROM call_tags WHERE call_tags.tag = ${tag} AND call_tags.at = calls.at AND call_tags.id = calls.id)`,
    text('error', 'error_code', error),
    text('provider', 'provider', provider),
    text('account', 'account', account),
    text('key', 'key', key),
    text(undefined, 'model', model),
    // Written as the conditions of the indexes: a parameter would not show that they hold.
    outcome === undefined ? undefined : text('outcome', 'outcome', outcome),
    finder === 'outcome' ? raw(outcome === 'disputed' ? "outcome = 'disputed'" : "outcome <> 'ok'") : undefined,
    status === undefined ? undefined : sql`${raw(finder === 'status' ? 'status' : 'status + 0')} = ${status}`,
    finder === 'status' ? raw(`status <> ${OK}`) : undefined,
    finder === 'error' ? raw('error_code IS NOT NULL') : undefined,
    costAbove === undefined ? undefined : sql`cost > ${costAbove}`,
    // SQLite goes through the index by these where there are both: they must be as narrow as the pairs.
    from === undefined ? undefined : sql`calls.at >= ${end ? Math.max(from, end.at) : from}`,
    to === undefined ? undefined : sql`calls.at < ${cursor ? Math.min(to, cursor.at + 1) : to}`,
    cursor && sql`(calls.at, calls.id) < (${cursor.at}, ${cursor.id})`,
    end && sql`(calls.at, calls.id) >= (${end.at}, ${end.id})`,
  ];
}

/** Of two pages, each newest first. */
export function newestOf(some: readonly CallRow[], others: readonly CallRow[], limit: number): CallRow[] {
  const all = [...some, ...others].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  return all.slice(0, limit);
}
