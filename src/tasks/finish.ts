/** Ends tasks: completed and charged, or failed and released. Also the work after the end. */
import { GatewayError } from '../canonical/errors.ts';
import type { Money } from '../canonical/money.ts';
import { storable } from '../canonical/storable.ts';
import { end, isOver, type TaskError } from '../canonical/task.ts';
import type { Usage } from '../canonical/usage.ts';
import type { CallRow } from '../store/rows.ts';
import type { CallTrace } from '../telemetry/events.ts';
import { receiptOf } from '../telemetry/receipt.ts';
import { mergedTask, siblingsOf } from './group.ts';
import { type Held, save } from './held-task.ts';
import { afterFailure } from './pace.ts';
import type { Task } from './task.ts';
import { type TracedTask, traceOf } from './task-attempts.ts';
import type { TaskDeps } from './task-deps.ts';
import { tellWebhook } from './webhook.ts';

/** Charges the task, and only then marks it as completed. The settlement is idempotent, so it can be repeated. */
export async function settle(deps: TaskDeps, held: Held): Promise<void> {
  const { task } = held;
  if (!task.due) return;
  const now = deps.now();
  const { cost, usage, disputed } = task.due;
  await concludeTask(deps, task, cost, disputed ? 'disputed' : 'ok', { usage });
  held.task = { ...end(task, 'completed', now), expiresAt: now + deps.settings.keepMs };
  await save(deps, held, now);
  await rest(deps, held);
}

/** Fails a task and releases its hold. */
export async function fail(deps: TaskDeps, held: Held, error: TaskError): Promise<void> {
  held.task = end(held.task, { error }, deps.now());
  // The task is saved first: a crash in between leaves a hold to release, never a video that is not paid.
  if (!(await save(deps, held, deps.now(), { dropRequest: true }))) return;
  await release(deps, held);
  await rest(deps, held);
}

async function release(deps: TaskDeps, held: Held): Promise<void> {
  await concludeTask(deps, held.task, 0n, 'failed', { error: held.task.error });
  held.task = { ...held.task, released: true };
}

/** Webhooks may take long, so they are called where nothing waits for them. */
async function rest(deps: TaskDeps, held: Held): Promise<void> {
  if (held.task.webhook) await save(deps, held, deps.now(), { release: true });
  else await tidy(deps, held);
}

/** How often the other videos of an order are checked. */
const SIBLINGS_MS = 2000;

/** Work after the end: releases a hold that a dead process left, calls the webhook, and finally removes the files. */
export async function tidy(deps: TaskDeps, held: Held): Promise<void> {
  const now = deps.now();
  if (held.task.state === 'failed' && !held.task.released) await release(deps, held);
  const { webhook } = held.task;
  if (webhook && !webhook.told) {
    const order = mergedTask(held.task, await siblingsOf(deps, held.task));
    // An order ends when all its videos have ended.
    if (!isOver(order)) return void (await save(deps, held, now + SIBLINGS_MS));
    held.task = { ...held.task, webhook: await tellWebhook(deps, order, webhook) };
    const again = held.task.webhook;
    if (again && !again.told) return void (await save(deps, held, now + afterFailure(again.tries, deps.random())));
  }
  const { expiresAt, files = [] } = held.task;
  if (expiresAt !== undefined && now < expiresAt) return void (await save(deps, held, expiresAt));
  for (const file of files) await deps.files.remove(file);
  held.task = { ...held.task, files: [], ...(expiresAt !== undefined && { emptied: true as const }) };
  await save(deps, held, undefined);
}

/** The members of a task that its settlement needs. */
export type Payable = TracedTask & Pick<Task, 'priceId' | 'attempts' | 'target'>;

interface Ending {
  usage?: Usage | undefined;
  /** `status`: what the client's request got, where it was refused. */
  error?: (TaskError & { status?: number }) | undefined;
}

/** Settles the hold and records the call. Idempotent. */
export async function concludeTask(
  deps: TaskDeps,
  task: Payable,
  cost: Money,
  outcome: CallRow['outcome'],
  ending: Ending = {},
): Promise<void> {
  const { call, trace } = recordOf(deps, task, cost, outcome, ending);
  await deps.ledger.settle({ callId: task.id, account: task.account, key: task.key, amount: task.held }, call);
  trace.record = call;
  deps.events.taskEnded(trace, call);
  if (call.outcome === 'disputed') deps.events.disputed(call);
}

/** The record of a task that continues. */
export type RunningCall = Omit<CallRow, 'outcome'> & { outcome: 'running' };

/** `undefined`: the task has ended. */
export function runningCall(deps: Pick<TaskDeps, 'events' | 'now'>, task: Task): RunningCall | undefined {
  if (isOver(task)) return undefined;
  return { ...recordOf(deps, task, 0n, 'ok', {}).call, outcome: 'running' };
}

function recordOf(
  deps: Pick<TaskDeps, 'events' | 'now'>,
  task: Payable,
  cost: Money,
  outcome: CallRow['outcome'],
  { usage, error }: Ending,
): { call: CallRow; trace: CallTrace } {
  const trace = traceOf(deps.events, task);
  if (error) trace.error = new GatewayError('upstream_failed', error.message);
  const receipt = receiptOf(trace);
  if (error && receipt.error) receipt.error.code = error.code;
  const call: CallRow = {
    id: task.id,
    account: task.account,
    key: task.key,
    at: task.createdAt,
    model: task.ask.model,
    provider: task.target?.provider ?? '',
    targetModel: task.target?.model ?? '',
    dialect: task.format,
    upstreamDialect: task.target ? 'video-task' : '',
    stream: false,
    status: error?.status ?? 200,
    outcome,
    attempts: task.attempts,
    cost,
    priceId: task.priceId,
    durationMs: Math.max(0, deps.now() - task.createdAt),
    ...(usage !== undefined && { usage }),
    // Providers send any text, and a record that cannot be stored would keep the hold for ever.
    ...(error && { errorCode: storable(error.code) }),
    ...(receipt.tags && { tags: receipt.tags }),
    receipt: JSON.stringify(receipt),
  };
  return { call, trace };
}
