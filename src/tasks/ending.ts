/** How a task ends: paid for and there, or failed and released; and what is left to do after that. */
import type { Money } from '../canonical/money.ts';
import { end, isOver, type TaskError } from '../canonical/task.ts';
import type { Usage } from '../canonical/usage.ts';
import type { CallRow } from '../store/store.ts';
import { siblingsOf, together } from './group.ts';
import { type Held, save } from './held-task.ts';
import { afterFailure } from './pace.ts';
import type { TaskRooms } from './rooms.ts';
import type { Task } from './task.ts';
import { tellWebhook } from './webhook.ts';

/** Pays for what is kept, and only then says that it is there. The ledger takes a settlement once, however often it is tried. */
export async function settle(rooms: TaskRooms, held: Held): Promise<void> {
  const { task } = held;
  if (!task.due) return;
  const now = rooms.now();
  const { cost, usage, disputed } = task.due;
  await conclude(rooms, task, cost, disputed ? 'disputed' : 'ok', usage);
  held.task = { ...end(task, 'completed', now), expiresAt: now + rooms.settings.keepMs };
  await save(rooms, held, now);
  await rest(rooms, held);
}

/** Ends a task without a result: what was held for it is free again. */
export async function fail(rooms: TaskRooms, held: Held, error: TaskError): Promise<void> {
  held.task = end(held.task, { error }, rooms.now());
  // First the end, then the money: a crash between the two leaves a hold to release, never a video that nobody pays for.
  if (!(await save(rooms, held, rooms.now(), { dropRequest: true }))) return;
  await release(rooms, held);
  await rest(rooms, held);
}

async function release(rooms: TaskRooms, held: Held): Promise<void> {
  await conclude(rooms, held.task, 0n, 'failed', undefined, held.task.error?.code);
  held.task = { ...held.task, released: true };
}

/** Telling a webhook may take long: that is done where nobody waits for it. */
async function rest(rooms: TaskRooms, held: Held): Promise<void> {
  if (held.task.webhook) await save(rooms, held, rooms.now(), { release: true });
  else await tidy(rooms, held);
}

/** How often it is asked whether the other videos of an order are there. */
const SIBLINGS_MS = 2000;

/** What is left after the end: its money where a process died before that was free, telling the webhook, and at last letting the files go. */
export async function tidy(rooms: TaskRooms, held: Held): Promise<void> {
  const now = rooms.now();
  if (held.task.state === 'failed' && !held.task.released) await release(rooms, held);
  const { webhook } = held.task;
  if (webhook && !webhook.told) {
    const order = together(held.task, await siblingsOf(rooms, held.task));
    // The order is over when all of its videos are.
    if (!isOver(order)) return void (await save(rooms, held, now + SIBLINGS_MS));
    held.task = { ...held.task, webhook: await tellWebhook(rooms, order, webhook) };
    const again = held.task.webhook;
    if (again && !again.told) return void (await save(rooms, held, now + afterFailure(again.tries, rooms.random())));
  }
  const { expiresAt, files = [] } = held.task;
  if (expiresAt !== undefined && now < expiresAt) return void (await save(rooms, held, expiresAt));
  for (const file of files) await rooms.files.remove(file);
  held.task = { ...held.task, files: [], ...(expiresAt !== undefined && { emptied: true as const }) };
  await save(rooms, held, undefined);
}

/** What a settlement needs to know of a task. */
export type Payable = Pick<
  Task,
  'id' | 'account' | 'key' | 'createdAt' | 'door' | 'priceId' | 'held' | 'attempts' | 'target'
> & { ask: Pick<Task['ask'], 'model'> };

/** Settles the hold and records the call, once: a second time changes nothing. */
export async function conclude(
  rooms: TaskRooms,
  task: Payable,
  cost: Money,
  outcome: CallRow['outcome'],
  usage?: Usage,
  errorCode?: string,
): Promise<void> {
  const call: CallRow = {
    id: task.id,
    account: task.account,
    key: task.key,
    at: task.createdAt,
    model: task.ask.model,
    provider: task.target?.provider ?? '',
    targetModel: task.target?.model ?? '',
    dialect: task.door,
    upstreamDialect: task.target ? 'video-task' : '',
    stream: false,
    status: 200,
    outcome,
    attempts: task.attempts,
    cost,
    priceId: task.priceId,
    durationMs: Math.max(0, rooms.now() - task.createdAt),
    ...(usage !== undefined && { usage }),
    ...(errorCode !== undefined && { errorCode }),
  };
  await rooms.ledger.settle({ callId: task.id, account: task.account, key: task.key, amount: task.held }, call);
  rooms.log(call);
}
