/** Commands for records: calls and the audit log. */
import { moneyIn, type Query, UnavailableError } from './admin-client.ts';
import type { CliDeps } from './cli-deps.ts';
import { type Command, type Given, UsageError } from './command.ts';
import { jsonOf, type PrintedRow, printRows, visible } from './printed.ts';
import { adminCommand } from './shared-commands.ts';
import type { ShownCall, ShownChange, ShownUsage } from './shown.ts';

const SHOWN = 20;
const MOST = 1000;

const FILTERS = ['account', 'key', 'model', 'provider', 'status', 'outcome', 'error', 'tag', 'from', 'to'] as const;

const calls = adminCommand(
  {
    name: 'calls',
    usage: `${FILTERS.map((name) => `[--${name} ${name.toUpperCase()}]`).join(' ')} [--cost-above USD] [--limit COUNT] [--follow]`,
    summary: `Lists the latest calls, ${SHOWN} by default; with --follow also those that end from now on, until it is stopped.`,
    options: {
      ...Object.fromEntries(FILTERS.map((name) => [name, { type: 'string' as const }])),
      'cost-above': { type: 'string' },
      limit: { type: 'string' },
      follow: { type: 'boolean' },
    },
  },
  async (admin, open, given) => {
    const filters = Object.fromEntries(FILTERS.map((name) => [name, given.option(name)]));
    const query = { ...filters, cost_above: given.option('cost-above') };
    /** A page may be short while there are more calls. */
    const latest: Latest = async (limit, more = {}, requests = Number.POSITIVE_INFINITY) => {
      const calls: ShownCall[] = [];
      for (let after: string | undefined, made = 1; ; made++) {
        const page = { ...query, ...more, limit: limit - calls.length, after };
        const { data, next } = await admin.get<{ data: ShownCall[]; next: string | null }>('/calls', page);
        calls.push(...data);
        if (next === null || calls.length >= limit) return { calls, isAll: true };
        if (made >= requests) return { calls, isAll: false };
        after = next;
      }
    };
    const { calls: data } = await latest(readLimit(given));
    if (given.flag('follow')) return follow(open, given, data, latest);
    printRows(open, given, data.map(rowOf), 'There are no calls yet.');
  },
);

/** The latest calls that match, from this number of requests at most. `isAll`: there are no others, or the limit is reached. */
type Latest = (limit: number, more?: Query, requests?: number) => Promise<{ calls: ShownCall[]; isAll: boolean }>;

/** Calls are recorded when they end, so one that began earlier may follow one that began later. A video may take a day. */
const LONGEST_CALL_MS = 24 * 3_600_000;
const FOLLOW_MS = 1000;
/** Each reads 5,000 calls at most: a rare filter must not read a day of calls every second. */
const MOST_REQUESTS = 4;
const MOST_SEEN = 10 * MOST;

async function follow(open: CliDeps, given: Given, first: readonly ShownCall[], latest: Latest): Promise<void> {
  const { out, err } = open.terminal;
  const seen = new Set<string>();
  function remember(calls: readonly ShownCall[]): void {
    for (const { id } of calls.toReversed()) {
      seen.delete(id);
      seen.add(id);
    }
    for (const id of seen) {
      if (seen.size <= MOST_SEEN) return;
      seen.delete(id);
    }
  }
  function show(calls: readonly ShownCall[]): void {
    for (const call of calls.toReversed()) out(given.json ? jsonOf(rowOf(call)) : lineOf(call));
    remember(calls);
  }
  const page = () => {
    const from = new Date(open.now() - LONGEST_CALL_MS).toISOString();
    return latest(MOST, given.option('from') === undefined ? { from } : {}, MOST_REQUESTS);
  };
  show(first);
  // What the first page did not show is older.
  remember((await page()).calls);
  let hasWarned = false;
  let isLost = false;
  while (await open.wait(FOLLOW_MS)) {
    try {
      const { calls, isAll } = await page();
      const fresh = calls.filter(({ id }) => !seen.has(id));
      if (fresh.length === MOST) err('Some calls are not shown: there are too many. Use more filters.');
      else if (!isAll && !hasWarned)
        err('Calls that take long may not be shown: there are too many others. Use more filters.');
      hasWarned ||= !isAll;
      remember(calls);
      show(fresh);
      isLost = false;
    } catch (thrown) {
      if (!(thrown instanceof UnavailableError)) throw thrown;
      // A server that restarts has lost no call.
      if (!isLost) err(`${thrown.message} Trying again every second.`);
      isLost = true;
    }
  }
}

function lineOf({ id, at, model, provider, status, outcome, errorCode, durationMs, cost }: ShownCall): string {
  const ended = errorCode == null ? outcome : `${outcome} (${errorCode})`;
  return visible([at, status, ended, model, provider, `${Math.round(durationMs)} ms`, `${cost} USD`, id].join('  '));
}

function readLimit(given: Given): number {
  const limit = Number(given.option('limit') ?? SHOWN);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST) return limit;
  throw new UsageError(`--limit must be an integer from 1 to ${MOST}.`);
}

function rowOf(call: ShownCall): PrintedRow {
  const { at, id, model, provider, status, outcome, errorCode } = call;
  const [cost, saved] = [call.cost, call.saved].map((amount) => (amount === undefined ? undefined : moneyIn(amount)));
  const ended = errorCode == null ? outcome : `${outcome} (${errorCode})`;
  return { at, id, model, provider, status, outcome: ended, ms: Math.round(call.durationMs), cost, saved };
}

const audit = adminCommand(
  {
    name: 'audit',
    usage: '[--subject ID] [--limit N]',
    summary: 'Lists the changes made by admins, latest first: who, what, when, before and after.',
    options: { subject: { type: 'string' }, limit: { type: 'string' } },
  },
  async (admin, open, given) => {
    const query = { limit: readLimit(given), subject: given.option('subject') };
    const { data } = await admin.get<{ data: ShownChange[] }>('/audit', query);
    const text = (row: object | undefined) => (row === undefined ? undefined : JSON.stringify(row));
    const rows = data.map(
      ({ at, id, actor, action, subject, before, after }): PrintedRow => ({
        at,
        id,
        actor,
        action,
        subject,
        ...(before && { before: text(before) }),
        ...(after && { after: text(after) }),
      }),
    );
    printRows(open, given, rows, 'There are no changes yet.');
  },
);

const USAGE_GROUPS = ['account', 'key', 'model', 'provider', 'tag', 'day', 'hour'] as const;

const usage = adminCommand(
  {
    name: 'usage',
    usage:
      '[--by GROUPS] [--from TIME] [--to TIME] [--tz ZONE] [--account ACCOUNT] [--model MODEL] [--provider PROVIDER] [--tag TAG]',
    summary: `Sums up calls by ${USAGE_GROUPS.join(', ')} (several with commas between them), the last 30 days by day by default.`,
    options: {
      by: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      tz: { type: 'string' },
      account: { type: 'string' },
      model: { type: 'string' },
      provider: { type: 'string' },
      tag: { type: 'string' },
    },
  },
  async (admin, open, given) => {
    const [from, to, tz] = [given.option('from'), given.option('to'), given.option('tz')];
    const query = {
      group_by: given.option('by'),
      from,
      to,
      tz,
      account: given.option('account'),
      model: given.option('model'),
      provider: given.option('provider'),
      tag: given.option('tag'),
    };
    const { data } = await admin.get<{ data: ShownUsage[] }>('/usage', query);
    const rows = data.map((line): PrintedRow => {
      const groups = USAGE_GROUPS.flatMap((group) =>
        line[group] === undefined ? [] : [[group, line[group]] as const],
      );
      const { calls, input_tokens: input, output_tokens: output } = line;
      const [cost, saved] = [moneyIn(line.cost), moneyIn(line.saved)];
      const margin = line.margin === null ? '' : moneyIn(line.margin);
      return {
        ...Object.fromEntries(groups),
        calls,
        cost,
        'input tokens': input,
        'output tokens': output,
        saved,
        margin,
      };
    });
    printRows(open, given, rows, 'There are no calls in this time.');
  },
);

export const RECORD_COMMANDS: readonly Command[] = [calls, usage, audit];
