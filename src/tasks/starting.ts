/** How a task is started at its vendor: once, where anybody can tell. */
import { asGatewayError, GatewayError } from '../canonical/errors.ts';
import { advance, type TaskError } from '../canonical/task.ts';
import type { ModelTarget } from '../catalog/catalog.ts';
import type { Answered, Started, VideoAdapter } from '../providers/video.ts';
import { fail } from './ending.ts';
import { exchange, send } from './exchange.ts';
import { type Held, save } from './held-task.ts';
import { later } from './later.ts';
import { type Maker, makerAt, makerOf, REMOVED } from './makers.ts';
import { nextLook } from './pace.ts';
import type { TaskRooms } from './rooms.ts';
import type { Task, TaskRequest } from './task.ts';

const UNCERTAIN: TaskError = {
  code: 'upstream_failed',
  message: "It is not known whether the model's vendor took the task on: it was given up, and nothing was charged.",
};

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
export async function recover(rooms: TaskRooms, held: Held): Promise<void> {
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
