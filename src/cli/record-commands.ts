/** The records from a terminal: calls, and what admins have changed. */
import type { CallRow } from '../store/store.ts';
import { type Command, type Given, UsageError } from './command.ts';
import { accountNamed, migratedStore } from './opened.ts';
import { printRows, type Row, timeText } from './printed.ts';

const SHOWN = 20;
const MOST = 1000;

const calls: Command = {
  name: 'calls',
  usage: '[--account ACCOUNT] [--limit COUNT]',
  summary: `Lists the latest calls, ${SHOWN} unless told otherwise.`,
  options: { account: { type: 'string' }, limit: { type: 'string' } },
  words: [0, 0],
  async run(open, given) {
    const limit = readLimit(given);
    const store = await migratedStore(open);
    const name = given.option('account');
    const account = name === undefined ? undefined : (await accountNamed(store, name)).id;
    const rows = await store.calls({ limit, ...(account !== undefined && { account }) });
    printRows(open, given, rows.map(rowOf), 'There is no call yet.');
    return 0;
  },
};

function readLimit(given: Given): number {
  const limit = Number(given.option('limit') ?? SHOWN);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST) return limit;
  throw new UsageError(`--limit must be an integer from 1 to ${MOST}.`);
}

function rowOf(call: CallRow): Row {
  return {
    at: timeText(call.at),
    id: call.id,
    model: call.model,
    provider: call.provider,
    status: call.status,
    outcome: call.errorCode === undefined ? call.outcome : `${call.outcome} (${call.errorCode})`,
    ms: Math.round(call.durationMs),
    cost: call.cost,
  };
}

const audit: Command = {
  name: 'audit',
  usage: '[--subject ID] [--limit N]',
  summary: 'Lists what admins have changed, the latest first: who, what, when, before and after.',
  options: { subject: { type: 'string' }, limit: { type: 'string' } },
  words: [0, 0],
  async run(open, given) {
    const subject = given.option('subject');
    const page = { limit: readLimit(given), ...(subject !== undefined && { subject }) };
    const entries = await (await migratedStore(open)).audits(page);
    const rows = entries.map(({ at, ...entry }) => ({ at: timeText(at), ...entry }));
    printRows(open, given, rows, 'Nothing has been changed yet.');
    return 0;
  },
};

export const RECORD_COMMANDS: readonly Command[] = [calls, audit];
