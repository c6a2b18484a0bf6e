/** The steps of one task: start it, look at it, keep and settle what came of it. Each ends in a save, so each may be the last of a process. */
import { asGatewayError, GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import type { Money } from '../canonical/money.ts';
import { advance, end, type FoundOutput, isOver, type Progress, type TaskError } from '../canonical/task.ts';
import type { ModelTarget } from '../catalog/catalog.ts';
import { readComponents } from '../catalog/price-text.ts';
import type { Outgoing, Provider, Target } from '../providers/provider.ts';
import type { Answered, Started, VideoAdapter } from '../providers/video.ts';
import type { CallRow } from '../store/store.ts';
import { download } from './download.ts';
import { exchange, send } from './exchange.ts';
import { afterFailure, nextLook } from './pace.ts';
import type { TaskRooms } from './rooms.ts';
import { type Task, type TaskRequest, writeBody } from './task.ts';
import { videoCharge, videoUsage } from './video-price.ts';
import { tellWebhook } from './webhook.ts';

/** A task in this process's hands. */
export interface Held {
  task: Task;
  /** The lease is another's: whatever was done here is that one's matter now. */
  lost: boolean;
}

/** A place where a task is made. */
interface Maker {
  choice: ModelTarget;
  provider: Provider;
  video: VideoAdapter;
  target: Target;
}

/** Brings a task as far as it comes now, and says when it needs somebody again. Throws only where the store does. */
export async function step(rooms: TaskRooms, held: Held): Promise<void> {
  const { task } = held;
  const now = rooms.now();
  if (isOver(task)) return tidy(rooms, held);
  if (task.due) return settle(rooms, held);
  if (now >= task.deadlineAt) return fail(rooms, held, EXPIRED);
  if (task.handle === undefined) return recover(rooms, held);
  return look(rooms, held);
}

const EXPIRED: TaskError = {
  code: 'task_expired',
  message: 'The video was not made within the time that a task may take.',
};
const REMOVED: TaskError = { code: 'upstream_failed', message: "The model's vendor is no longer configured." };
const UNCERTAIN: TaskError = {
  code: 'upstream_failed',
  message: "It is not known whether the model's vendor took the task on: it was given up, and nothing was charged.",
};
const VANISHED: TaskError = { code: 'upstream_failed', message: "The model's vendor knows of no such task any more." };

/**
 * Starts a task that has not been sent, at the first target that takes it. Throws the error its client should see where none does;
 * nothing is saved then but that it was tried.
 */
export async function start(
  rooms: TaskRooms,
  held: Held,
  request: TaskRequest,
  targets: readonly ModelTarget[],
): Promise<void> {
  let last: GatewayError | undefined;
  for (const choice of targets) {
    const maker = makerAt(rooms, choice);
    if (!maker) continue;
    held.task = {
      ...held.task,
      target: { provider: choice.provider, model: choice.model },
      sent: true,
      attempts: held.task.attempts + 1,
    };
    if (!(await save(rooms, held, rooms.now()))) return;
    let doubt: GatewayError | undefined;
    try {
      doubt = await begin(rooms, held, maker, request);
    } catch (thrown) {
      last = asGatewayError(thrown);
      rooms.catalog.observe(choice, { ok: false, error: last }, rooms.now());
      if (!last.retryable) throw last;
      continue;
    }
    rooms.catalog.observe(choice, doubt ? { ok: false, error: doubt } : { ok: true }, rooms.now());
    if (!doubt) return;
    // Never at another target: there would be two.
    if (maker.video.find || maker.video.repeatable) return later(rooms, held, doubt);
    throw new GatewayError(doubt.code, UNCERTAIN.message, { retryable: false, cause: doubt });
  }
  throw last ?? new GatewayError('upstream_failed', 'The model has no vendor that makes videos.');
}

/** Throws where the vendor did not take it on; returns why where that is not known: what was sent brought no answer. */
async function begin(
  rooms: TaskRooms,
  held: Held,
  { provider, video, target }: Maker,
  request: TaskRequest,
): Promise<GatewayError | undefined> {
  const { task } = held;
  const ask = { ...task.ask, pictures: request.pictures };
  const { outgoing, warnings } = video.start(ask, target, task.id);
  held.task = told(task, warnings);
  await provider.authorize(outgoing, target, rooms.signing);
  let answered: Answered;
  try {
    answered = await send(rooms, { ...outgoing, once: true });
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (error.unsent) throw error;
    return error;
  }
  if (UNANSWERED.has(answered.status)) {
    return new GatewayError('upstream_timeout', 'The model took too long to take the task on.');
  }
  await startedBy(rooms, held, video.readStart(answered, ask), video);
  return undefined;
}

/** The task with what its vendor cannot be told. Throws `lossy_translation` where its client wants all of it told. */
export function told(task: Task, warnings: string[]): Task {
  if (task.strict && warnings.length > 0) {
    throw new GatewayError('lossy_translation', `The model cannot be told everything: ${warnings.join(' ')}`);
  }
  return { ...task, warnings };
}

/** Somebody before the vendor gave up waiting for it. */
const UNANSWERED: ReadonlySet<number> = new Set([408, 504]);

/** The vendor has taken it on: what it is known by there is kept before anything else. */
export async function startedBy(
  rooms: TaskRooms,
  held: Held,
  { handle, seen }: Started,
  video: VideoAdapter,
): Promise<void> {
  const now = rooms.now();
  held.task = { ...advance(held.task, seen, now), handle };
  await save(rooms, held, now + nextLook(0, video.firstLookMs, rooms.random()), { dropRequest: true });
}

/** A task without a handle, taken over from a process that died: started where that is certain not to be the second time. */
async function recover(rooms: TaskRooms, held: Held): Promise<void> {
  const { task } = held;
  const request = JSON.parse((await rooms.store.tasks.request(task.id)) ?? '{"pictures":[]}') as TaskRequest;
  try {
    // Whether the request to make a video anew was sent is not known.
    if (task.ask.remixOf !== undefined) return await fail(rooms, held, UNCERTAIN);
    if (!task.sent) {
      const model = rooms.catalog.find(task.ask.model);
      if (!model) return await fail(rooms, held, REMOVED);
      return await start(rooms, held, request, rooms.catalog.order(model, rooms.random, rooms.now()));
    }
    const maker = makerOf(rooms, task);
    if (!maker) return await fail(rooms, held, REMOVED);
    const { video } = maker;
    if (!video.find && !video.repeatable) return await fail(rooms, held, UNCERTAIN);
    const found = await lookedUp(rooms, task, request, maker);
    if (found instanceof GatewayError) return await later(rooms, held, found);
    if (found) return await startedBy(rooms, held, found, video);
    const doubt = await begin(rooms, held, maker, request);
    if (doubt) await later(rooms, held, doubt);
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (!error.retryable) return fail(rooms, held, { code: error.vendorCode ?? error.code, message: error.message });
    return later(rooms, held, error);
  }
}

/** What the vendor knows of the task by our id; an error where it does not say. */
async function lookedUp(
  rooms: TaskRooms,
  task: Task,
  { pictures }: TaskRequest,
  { provider, video, target }: Maker,
): Promise<Started | GatewayError | undefined> {
  if (!video.find) return undefined;
  try {
    const ask = { ...task.ask, pictures };
    return video.find.read(await exchange(rooms, provider, video.find.ask(task.id, target, ask), target), ask);
  } catch (thrown) {
    return asGatewayError(thrown);
  }
}

/** Asks the vendor how far it is. */
async function look(rooms: TaskRooms, held: Held): Promise<void> {
  const maker = makerOf(rooms, held.task);
  if (!maker) return fail(rooms, held, REMOVED);
  const { provider, video, target } = maker;
  const handle = held.task.handle ?? null;
  let seen: Progress;
  try {
    seen = video.readPoll(await exchange(rooms, provider, video.poll(handle, target), target), handle);
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (error.status === 404 || error.status === 410) return fail(rooms, held, VANISHED);
    // A vendor that fails, or refuses our key, for an hour is waited for: the task has its time limit.
    return later(rooms, held, error);
  }
  const { task } = held;
  held.task = { ...advance(task, seen, rooms.now()), looks: task.looks + 1, failures: 0 };
  if (seen.handle !== undefined) held.task.handle = seen.handle;
  if (isOver(held.task)) return fail(rooms, held, held.task.error ?? VANISHED);
  if (seen.state === 'completed') return keep(rooms, held, seen, maker);
  await save(rooms, held, rooms.now() + nextLook(held.task.looks, video.firstLookMs, rooms.random()));
}

/** Keeps the results; what cannot be fetched is asked for again, with a fresh address. */
async function keep(rooms: TaskRooms, held: Held, seen: Progress, { provider, target }: Maker): Promise<void> {
  const found = seen.found ?? [];
  if (found.length === 0) {
    return fail(rooms, held, {
      code: 'upstream_failed',
      message: "The model's vendor made the video and did not hand it over.",
    });
  }
  const outputs: Task['outputs'] = [];
  try {
    for (const one of found) {
      const file = newId('file_', 32);
      outputs.push({ file, ...(await download(rooms, provider, target, file, one satisfies FoundOutput)) });
    }
  } catch (thrown) {
    for (const { file } of outputs) await rooms.files.remove(file);
    const error = asGatewayError(thrown);
    if (!error.retryable || held.task.failures + 1 >= MOST_DOWNLOADS) {
      return fail(rooms, held, {
        code: 'upstream_failed',
        message: 'The finished video could not be fetched from its vendor.',
      });
    }
    return later(rooms, held, error);
  }
  const { task } = held;
  const usage = videoUsage(task.ask, outputs.length, seen.billed);
  // The price of the day it was ordered.
  const price = await rooms.store.price(task.priceId);
  const cost = price ? videoCharge(usage, outputs.length, readComponents(price.components)) : task.held;
  held.task = { ...task, outputs, due: { usage, cost } };
  if (await save(rooms, held, rooms.now())) await settle(rooms, held);
}

const MOST_DOWNLOADS = 8;

/** How long a task stays in one process's hands without a sign of life. */
export const LEASE_MS = 60_000;

/** Keeps the task in this process's hands for as long as the work takes: vendors may be slower than a lease. */
export async function holding<T>(rooms: TaskRooms, held: Held, work: () => Promise<T>): Promise<T> {
  const lease = setInterval(() => void renew(rooms, held), LEASE_MS / 3);
  try {
    return await work();
  } finally {
    clearInterval(lease);
  }
}

async function renew(rooms: TaskRooms, held: Held): Promise<void> {
  const kept = await rooms.store.tasks.extend(held.task.id, rooms.worker, rooms.now() + LEASE_MS).catch(() => true);
  if (!kept) held.lost = true;
}

/** Pays for what is kept, and only then says that it is there. The ledger takes a settlement once, however often it is tried. */
async function settle(rooms: TaskRooms, held: Held): Promise<void> {
  const { task } = held;
  if (!task.due) return;
  const now = rooms.now();
  await conclude(rooms, task, task.due.cost, 'ok', JSON.stringify(task.due.usage));
  held.task = { ...end(task, 'completed', now), expiresAt: now + rooms.settings.keepMs };
  await save(rooms, held, now);
  await tidy(rooms, held);
}

/** Ends a task without a result: what was held for it is free again. */
export async function fail(rooms: TaskRooms, held: Held, error: TaskError): Promise<void> {
  held.task = end(held.task, { error }, rooms.now());
  // First the end, then the money: a crash between the two leaves a hold to release, never a video that nobody pays for.
  if (!(await save(rooms, held, rooms.now(), { dropRequest: true }))) return;
  await conclude(rooms, held.task, 0n, 'failed', undefined, error.code);
  await tidy(rooms, held);
}

/** What is left after the end: telling the webhook, and at last letting the files go. */
async function tidy(rooms: TaskRooms, held: Held): Promise<void> {
  const now = rooms.now();
  const { webhook } = held.task;
  if (webhook && !webhook.told) {
    held.task = { ...held.task, webhook: await tellWebhook(rooms, held.task, webhook) };
    const again = held.task.webhook;
    if (again && !again.told) return void (await save(rooms, held, now + afterFailure(again.tries, rooms.random())));
  }
  const { expiresAt, emptied } = held.task;
  if (expiresAt === undefined || emptied) return void (await save(rooms, held, undefined));
  if (now < expiresAt) return void (await save(rooms, held, expiresAt));
  for (const { file } of held.task.outputs) await rooms.files.remove(file);
  held.task = { ...held.task, emptied: true };
  await save(rooms, held, undefined);
}

async function later(rooms: TaskRooms, held: Held, error: GatewayError): Promise<void> {
  const failures = held.task.failures + 1;
  held.task = { ...held.task, failures };
  if (failures === 1 || error.code === 'internal_error')
    rooms.trouble(`A look at the task ${held.task.id} failed.`, error);
  await save(rooms, held, rooms.now() + afterFailure(failures, rooms.random()));
}

/** Releases the lease with it, unless the task goes on in this process at once. */
async function save(
  rooms: TaskRooms,
  held: Held,
  dueAt: number | undefined,
  more: { dropRequest?: boolean } = {},
): Promise<boolean> {
  if (held.lost) return false;
  const release = dueAt === undefined || dueAt > rooms.now();
  const kept = await rooms.store.tasks.save(held.task.id, rooms.worker, {
    body: writeBody(held.task),
    dueAt,
    release,
    ...more,
  });
  if (!kept) held.lost = true;
  return kept;
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
  usage?: string,
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

/** The task's own maker; `undefined` where it is configured no more. */
export function makerOf(rooms: TaskRooms, { ask, target }: Task): Maker | undefined {
  const model = rooms.catalog.find(ask.model);
  const choice = model?.targets.find((one) => one.provider === target?.provider && one.model === target.model);
  return choice && makerAt(rooms, choice);
}

export function makerAt(rooms: TaskRooms, choice: ModelTarget): Maker | undefined {
  const provider = rooms.provider(choice.type);
  const baseUrl = choice.baseUrl ?? provider?.baseUrl;
  if (!provider?.video || baseUrl === undefined) return undefined;
  const target: Target = {
    model: choice.model,
    baseUrl,
    credential: rooms.catalog.credential(choice),
    settings: choice.settings,
  };
  return { choice, provider, video: provider.video, target };
}

/** Tells the vendor that a task is not wanted any more. `false`: it cannot be told. */
export async function cancel(rooms: TaskRooms, task: Task): Promise<boolean> {
  const maker = makerOf(rooms, task);
  if (!maker?.video.cancel || task.handle === undefined) return false;
  const outgoing: Outgoing = maker.video.cancel(task.handle, maker.target);
  const { status } = await exchange(rooms, maker.provider, outgoing, maker.target);
  return status < 300 || status === 404;
}
