/** The sink that writes the log: a line for each call that was admitted, and what an operator must look into. */
import type { Json } from '../canonical/json.ts';
import { writeMoney } from '../canonical/money.ts';
import type { Usage } from '../canonical/usage.ts';
import { errorMembers, type Log } from '../log.ts';
import type { CallRow } from '../store/rows.ts';
import type { CallTrace, EventSink } from './events.ts';

export function createLogSink(log: Log): EventSink {
  return {
    ended(call, record) {
      log.info('call', hasDetails(call) ? lineOf(call, record) : recordLine(record));
    },
    taskEnded(_, record) {
      log.info('task', () => recordMembers(record));
    },
    disputed: (record) => warnOfDispute(log, record),
  };
}

/** Whether there is more to write than the record. If not, the trace does not have to wait for the line. */
function hasDetails({ warnings, error, route, attempts }: CallTrace): boolean {
  return warnings.length > 0 || error !== undefined || route !== undefined || attempts.length > 1;
}

/** A function of its own: a closure keeps what any closure of the same function refers to, here the trace. */
const recordLine = (record: CallRow) => () => recordMembers(record);

const lineOf = (call: CallTrace, record: CallRow) => () => detailed(call, record);

function detailed({ warnings, error, route, attempts }: CallTrace, record: CallRow): object {
  const members = recordMembers(record);
  if (warnings.length > 0) members.lost = warnings.length;
  if (route) members.route = [...route()];
  if (attempts.length > 1)
    members.tried = attempts.map(({ target, outcome, status, errorCode }) =>
      [target.id, outcome, status > 0 ? status : undefined, errorCode].filter((part) => part !== undefined).join(' '),
    );
  return error?.cause === undefined ? members : { ...members, ...errorMembers(error.cause) };
}

/** Without prompts, replies or secrets. Undefined members would double the cost of a line. */
function recordMembers(call: CallRow): { [name: string]: Json | Usage } {
  const members: { [name: string]: Json | Usage } = {
    id: call.id,
    account: call.account,
    key: call.key,
    model: call.model,
    provider: call.provider,
    targetModel: call.targetModel,
    dialect: call.dialect,
    upstreamDialect: call.upstreamDialect,
    stream: call.stream,
    status: call.status,
    outcome: call.outcome,
    attempts: call.attempts,
    cost: writeMoney(call.cost),
    durationMs: call.durationMs,
  };
  if (call.firstByteMs !== undefined) members.firstByteMs = call.firstByteMs;
  if (call.usage) members.usage = call.usage;
  if (call.saved !== undefined) members.saved = writeMoney(call.saved);
  if (call.errorCode !== undefined) members.errorCode = call.errorCode;
  return members;
}

/** Warns the operator of a call that needs a decision. */
function warnOfDispute(log: Log, { id, account, model, provider, cost, usage }: CallRow): void {
  log.warn(
    `The provider's usage report of a call is implausible: its hold was charged. Decide with "modelport disputes accept" or "reject" and its id.`,
    { id, account, model, provider, charged: writeMoney(cost), claimed: usage?.claimed?.cost },
  );
}
