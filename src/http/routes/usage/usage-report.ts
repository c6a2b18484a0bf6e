/** Reports of usage by groups, for one account or all. */

import { type Static, Type } from 'typebox';
import { GatewayError } from '../../../canonical/errors.ts';
import { writeMoney } from '../../../canonical/money.ts';
import { DAY_MS } from '../../../canonical/time.ts';
import { yieldToLoop } from '../../../canonical/yield-to-loop.ts';
import type { UsageFigures, UsageGroup, UsageSum } from '../../../store/rows.ts';
import { addUsage, NO_FIGURES } from '../../../store/sums/call-sums.ts';
import { Time, TimeInput, timeOf, writeTime } from '../../fields/time.ts';
import { Usd } from '../../fields/usd.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type TimeZone, timeZone } from './local-days.ts';
import { streamedReply } from './streamed-reply.ts';
import { csvLine, formatOf, TABLE_TYPES, type TableFormat } from './table-reply.ts';

type Group = Exclude<UsageGroup, 'hour'> | 'day' | 'hour';

export const OWN_GROUPS = ['day', 'hour', 'model', 'key', 'tag'] as const;
export const ALL_GROUPS = [...OWN_GROUPS, 'account', 'provider'] as const;

const DEFAULT_MS = 30 * DAY_MS;
/** Later years have five digits. */
const LAST_TIME = Date.parse('9999-12-01');
const MOST_DAYS = 1000;
const MOST_LINES = 50_000;
const LINES_AT_ONCE = 500;

export const usageQuery = (groups: readonly Group[]) => ({
  from: Type.Optional(TimeInput),
  to: Type.Optional(TimeInput),
  group_by: Type.Optional(
    Type.String({ description: `${groups.join(', ')}; several with commas between them; day by default` }),
  ),
  tz: Type.Optional(
    Type.String({ description: 'the time zone of days and hours, such as Europe/Berlin; UTC by default' }),
  ),
});

export type UsageQuery = Static<ReturnType<typeof Type.Object<ReturnType<typeof usageQuery>>>>;

const FIGURES = {
  calls: Type.Integer(),
  cost: Usd,
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  saved: Usd,
};

/** For admins: what the calls cost at the providers. */
const MARGINS = {
  provider_cost: Type.Union([Usd, Type.Null()], {
    description: 'what the providers charge, by the `cost` of the targets; null where it is known of no call',
  }),
  margin: Type.Union([Usd, Type.Null()], { description: 'what was charged for the same calls, minus `provider_cost`' }),
  calls_with_provider_cost: Type.Integer({ description: 'the calls that `provider_cost` and `margin` are of' }),
};

/** `own`: for one account, which does not see what providers charge. */
const figuresFor = (groups: readonly Group[]) => (isOwn(groups) ? FIGURES : { ...FIGURES, ...MARGINS });
const isOwn = (groups: readonly Group[]): boolean => !groups.includes('provider');

export const usageReply = (groups: readonly Group[]) =>
  Type.Object({
    from: Time,
    to: Time,
    group_by: Type.String(),
    tz: Type.String(),
    currency: Type.Literal('USD'),
    data: Type.Array(
      Type.Object({
        group: Type.String({ description: 'the values of all groups, with ", " between them' }),
        ...Object.fromEntries(groups.map((group) => [group, Type.Optional(Type.String())])),
        ...figuresFor(groups),
      }),
    ),
    total: Type.Object(figuresFor(groups), {
      description: 'of all calls, each once, although the lines of tags may have one several times or not at all',
    }),
  });

type Groups = { group: string } & { [group in Group]?: string };
type ReportRow = Groups & { [figure: string]: string | number | null };

/** The report in the format that the client accepts. Throws `invalid_request`. */
export async function usageReport(
  { store, now }: Pick<HttpDeps, 'store' | 'now'>,
  query: UsageQuery,
  known: readonly Group[],
  only: { account?: string; key?: string; model?: string; provider?: string; tag?: string },
  accept: string | null,
): Promise<object | Response> {
  const groups = readGroups(query.group_by ?? 'day', known);
  const tz = query.tz ?? 'UTC';
  const zone = timeZone(tz);
  if (!zone) {
    const message = `There is no time zone "${tz}". Use a name such as Europe/Berlin.`;
    throw new GatewayError('invalid_request', message, { param: 'tz' });
  }
  const to = query.to === undefined ? now() + 1 : Math.min(LAST_TIME, timeIn(zone, query.to, 'to'));
  const from = query.from === undefined ? Math.max(0, to - DEFAULT_MS) : Math.min(to, timeIn(zone, query.from, 'from'));
  const groupBy = groups.filter((group) => group !== 'day');
  const periods = groups.includes('day') && !groups.includes('hour') ? daysOf(zone, from, to) : undefined;
  const sums = await store.usage({ ...only, from, to, groupBy, periods, limit: MOST_LINES + 1 });
  if (sums.length > MOST_LINES) {
    const message = `The report has more than ${MOST_LINES} lines. Choose a shorter time or fewer groups.`;
    throw new GatewayError('invalid_request', message, { param: 'group_by' });
  }
  const write = isOwn(known) ? figuresOf : withMargin;
  const lineOf = (sum: UsageSum): ReportRow => ({ ...groupsOf(sum, groups, zone, from), ...write(sum) });
  const format = formatOf(accept);
  if (format !== 'json') {
    const columns = [...groups, ...Object.keys(figuresFor(known))];
    return await streamedReply(textPieces(sums, lineOf, columns, format), TABLE_TYPES[format]);
  }
  const isInPart = groups.includes('tag') && only.tag === undefined;
  const whole = isInPart ? await store.usage({ ...only, from, to, groupBy: [] }) : sums;
  const group_by = groups.join(',');
  // Before there were several groups, lines of `/v1/usage` had no member besides these.
  const isPlain = known === OWN_GROUPS && groups.length === 1;
  const shown = isPlain
    ? (sum: UsageSum) => ({ group: groupsOf(sum, groups, zone, from).group, ...figuresOf(sum) })
    : lineOf;
  const head = { from: writeTime(from), to: writeTime(to), group_by, tz, currency: 'USD' };
  const total = write(await totalOf(whole));
  if (sums.length <= LINES_AT_ONCE) return { ...head, data: sums.map(shown), total };
  return await streamedReply(jsonPieces(head, sums, shown, total), TABLE_TYPES.json);
}

/** A date alone is the beginning of that day in the zone of the report. */
function timeIn(zone: TimeZone, value: string | number, param: string): number {
  const time = timeOf(value, param);
  return /^\d{4}-\d\d-\d\d$/.test(String(value)) ? Math.min(LAST_TIME, zone.startOf(String(value))) : time;
}

function readGroups(text: string, known: readonly Group[]): Group[] {
  const groups = text.split(',').map((group) => group.trim() as Group);
  if (groups.every((group, index) => known.includes(group) && groups.indexOf(group) === index)) return groups;
  const message = `"group_by" must be of ${known.join(', ')}, each once, with commas between them.`;
  throw new GatewayError('invalid_request', message, { param: 'group_by' });
}

function daysOf(zone: TimeZone, from: number, to: number): number[] {
  const days = zone.daysWithin(from, to, MOST_DAYS);
  if (days) return days;
  throw new GatewayError('invalid_request', `A report by day has at most ${MOST_DAYS} days.`, { param: 'from' });
}

function groupsOf(sum: UsageSum, groups: readonly Group[], zone: TimeZone, from: number): Groups {
  const values: { [group in Group]?: string } = {};
  for (const group of groups) {
    if (group === 'day') values.day = zone.dateOf(sum.period ?? Math.max(from, sum.hour ?? from));
    else if (group === 'hour') values.hour = zone.write(sum.hour ?? from);
    else values[group] = sum[group] ?? '';
  }
  return { group: groups.map((group) => values[group]).join(', '), ...values };
}

const figuresOf = ({ calls, cost, inputTokens, outputTokens, saved }: UsageFigures) => ({
  calls,
  cost: writeMoney(cost),
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  saved: writeMoney(saved),
});

function withMargin(sum: UsageFigures) {
  const { costedCalls, costedCharge, providerCost } = sum;
  const isKnown = costedCalls > 0;
  return {
    ...figuresOf(sum),
    provider_cost: isKnown ? writeMoney(providerCost) : null,
    margin: isKnown ? writeMoney(costedCharge - providerCost) : null,
    calls_with_provider_cost: costedCalls,
  };
}

async function totalOf(sums: readonly UsageSum[]): Promise<UsageFigures> {
  const total = { ...NO_FIGURES };
  for (let at = 0; at < sums.length; at += LINES_AT_ONCE) {
    if (at > 0) await yieldToLoop();
    for (const sum of sums.slice(at, at + LINES_AT_ONCE)) addUsage(total, sum, 1);
  }
  return total;
}

/** The same text as of the object with `head`, `data` and `total`. */
async function* jsonPieces(
  head: object,
  sums: readonly UsageSum[],
  lineOf: (sum: UsageSum) => object,
  total: object,
): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder();
  let text = `${JSON.stringify(head).slice(0, -1)},"data":[`;
  for (let at = 0; at < sums.length; at += LINES_AT_ONCE) {
    const lines = sums.slice(at, at + LINES_AT_ONCE).map((sum) => JSON.stringify(lineOf(sum)));
    yield encoder.encode(`${text}${at > 0 ? ',' : ''}${lines.join(',')}`);
    text = '';
    await yieldToLoop();
  }
  yield encoder.encode(`],"total":${JSON.stringify(total)}}`);
}

/** The lines are written while they are sent. */
async function* textPieces(
  sums: readonly UsageSum[],
  lineOf: (sum: UsageSum) => ReportRow,
  columns: readonly string[],
  format: Exclude<TableFormat, 'json'>,
): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder();
  let text = format === 'csv' ? csvLine(columns) : '';
  for (let at = 0; at < sums.length || text !== ''; at += LINES_AT_ONCE) {
    for (const sum of sums.slice(at, at + LINES_AT_ONCE)) {
      const { group: _, ...line } = lineOf(sum);
      text += format === 'csv' ? csvLine(columns.map((column) => line[column])) : `${JSON.stringify(line)}\n`;
    }
    yield encoder.encode(text);
    text = '';
    await yieldToLoop();
  }
}
