/** How a task is started at its vendor: once, where anybody can tell. */
import { asGatewayError, GatewayError } from '../canonical/errors.ts';
import { advance, type TaskError } from '../canonical/task.ts';
import type { ModelTarget } from '../catalog/catalog.ts';
import type { Outgoing } from '../providers/provider.ts';
import { toldTo } from '../providers/told-to.ts';
import type { Answered, Started, Starting } from '../providers/video.ts';
import { boundedStart } from './bounded-answers.ts';
import { fail } from './ending.ts';
import { exchange, send } from './exchange.ts';
import { type Held, save } from './held-task.ts';
import { type Maker, makerAt, makerOf, nameOf, REMOVED } from './makers.ts';
import { nextLook } from './pace.ts';
import type { TaskRooms } from './rooms.ts';
import type { Task, TaskRequest } from './task.ts';
import { later } from './waiting.ts';

const UNCERTAIN: TaskError = {
  code: 'upstream_failed',
  message: "It is not known whether the model's vendor took the task on: it was given up, and nothing was charged.",
};

/** Somebody before the vendor gave up waiting for it; the last is Cloudflare's own. */
const UNANSWERED: ReadonlySet<number> = new Set([408, 504, 524]);

/** A handle that the store does not take is saved again for about as long as a lease lasts. */
const MOST_SAVES = 100;
const SAVES_PAUSE_MS = 250;

/**
 * Starts a task that has not been sent, at the first target that takes it. Returns why it was not started; `inDoubt`: it may have been,
 * and it was given up. Throws only where the store does.
 */
export async function start(
  rooms: TaskRooms,
  held: Held,
  request: TaskRequest,
  targets: readonly ModelTarget[],
): Promise<GatewayError | undefined> {
  let refusal: GatewayError | undefined;
  /** The credentials tried at the target before the next one. */
  let tried: (string | undefined)[] = [];
  const left = [...targets];
  for (let choice = left.shift(); choice; choice = left.shift()) {
    if (tried.length === 0) tried = [rooms.catalog.credential(choice, rooms.now())];
    const credential = tried.at(-1);
    const maker = makerAt(rooms, choice, undefined, credential);
    if (!maker) {
      tried = [];
      continue;
    }
    const { task } = held;
    held.task = { ...task, target: nameOf(maker), attempts: task.attempts + 1 };
    const error = await attempt(rooms, held, maker, request);
    if (!error) {
      rooms.catalog.observe(choice, { ok: true }, rooms.now(), credential);
      return undefined;
    }
    const next = rooms.catalog.another(choice, tried, error, rooms.now());
    tried = next === undefined ? [] : [...tried, next];
    if (next !== undefined) left.unshift(choice);
    // Never at another target: there would be two.
    if (error.inDoubt) return doubt(rooms, held, maker, error);
    if (held.task.sent) {
      const { sent: _, ...unsent } = held.task;
      held.task = unsent;
      if (!(await save(rooms, held, rooms.now()))) return undefined;
    }
    if (!error.retryable) return error;
    refusal = error;
  }
  return refusal ?? new GatewayError('upstream_failed', 'The model has no vendor that makes videos.');
}

/** Where the vendor can be asked, or recognises a start again, the task goes on; else it is given up. */
async function doubt(
  rooms: TaskRooms,
  held: Held,
  { video }: Maker,
  cause: GatewayError,
): Promise<GatewayError | undefined> {
  if (video.find || video.repeatable) {
    await later(rooms, held, cause);
    return undefined;
  }
  await fail(rooms, held, UNCERTAIN);
  return new GatewayError(cause.code, UNCERTAIN.message, { inDoubt: true, cause });
}

/** Returns why the vendor did not take it on; `inDoubt` where that is not known. Throws only where the store does. */
async function attempt(
  rooms: TaskRooms,
  held: Held,
  maker: Maker,
  request: TaskRequest,
): Promise<GatewayError | undefined> {
  let outgoing: Outgoing;
  try {
    outgoing = await prepare(rooms, held, maker, request);
  } catch (thrown) {
    return asGatewayError(thrown);
  }
  // As late as can be: from here on a crash leaves a start in doubt.
  held.task = { ...held.task, sent: true };
  if (!(await save(rooms, held, rooms.now()))) return undefined;
  let started: Started;
  try {
    const ask = { ...held.task.ask, pictures: request.pictures };
    started = boundedStart(maker.video.readStart(await sendOnce(rooms, outgoing), ask));
  } catch (thrown) {
    // An answer that our own code stumbled over is no refusal.
    return thrown instanceof GatewayError ? thrown : inDoubt(asGatewayError(thrown));
  }
  await startedBy(rooms, held, started, maker);
  return undefined;
}

/** What to send, signed. Throws `lossy_translation` where its client wants all of it told and the vendor cannot be. */
async function prepare(
  rooms: TaskRooms,
  held: Held,
  { provider, video, target }: Maker,
  { pictures }: TaskRequest,
): Promise<Outgoing> {
  const { task } = held;
  const { ask, unsaid } = toldTo(video, { ...task.ask, pictures });
  const { outgoing, warnings: lost }: Starting =
    task.source !== undefined && video.remix
      ? video.remix(task.source, ask, target)
      : video.start(ask, target, task.id);
  const warnings = [...unsaid, ...lost];
  if (task.strict && warnings.length > 0) {
    throw new GatewayError('lossy_translation', `The model cannot be told everything: ${warnings.join(' ')}`);
  }
  held.task = { ...task, warnings };
  await provider.authorize(outgoing, target, rooms.signing);
  return outgoing;
}

/** Throws `inDoubt` where what was sent brought no answer. */
async function sendOnce(rooms: TaskRooms, outgoing: Outgoing): Promise<Answered> {
  let answered: Answered;
  try {
    answered = await send(rooms, { ...outgoing, once: true });
  } catch (thrown) {
    const error = asGatewayError(thrown);
    throw error.unsent ? error : inDoubt(error);
  }
  if (!UNANSWERED.has(answered.status)) return answered;
  throw new GatewayError('upstream_timeout', 'The model took too long to take the task on.', { inDoubt: true });
}

/** The same error of a start that may have been made. */
export function inDoubt(cause: GatewayError): GatewayError {
  return cause.inDoubt ? cause : new GatewayError(cause.code, cause.message, { inDoubt: true, cause });
}

/** The vendor has taken it on: what it is known by there is kept before anything else, however long the store takes. */
async function startedBy(
  rooms: TaskRooms,
  held: Held,
  { handle, seen }: Started,
  { video: { firstLookMs } }: Maker,
): Promise<void> {
  const now = rooms.now();
  held.task = { ...advance(held.task, seen, now), handle, failures: 0 };
  for (let saves = 1; ; saves++) {
    try {
      await save(rooms, held, now + nextLook(0, rooms.settings.pollMs || firstLookMs, rooms.random()), {
        dropRequest: true,
      });
      return;
    } catch (thrown) {
      if (saves === MOST_SAVES) throw thrown;
      await Bun.sleep(SAVES_PAUSE_MS);
    }
  }
}

/** A task without a handle, taken over from a process that died: started where that is certain not to be the second time. */
export async function recover(rooms: TaskRooms, held: Held): Promise<void> {
  const { task } = held;
  const request = JSON.parse((await rooms.store.tasks.request(task.id)) ?? '{"pictures":[]}') as TaskRequest;
  const error = await (task.sent ? retrace(rooms, held, request) : startLate(rooms, held, request));
  if (!error || error.inDoubt) return;
  if (error.retryable) return later(rooms, held, error);
  await fail(rooms, held, { code: error.vendorCode ?? error.code, message: error.message });
}

/** As `start`. */
async function startLate(rooms: TaskRooms, held: Held, request: TaskRequest): Promise<GatewayError | undefined> {
  const { task } = held;
  // A video is made anew where the first one was.
  const maker = task.source === undefined ? undefined : makerOf(rooms, task);
  const model = rooms.catalog.find(task.ask.model);
  if (!model || (task.source !== undefined && !maker))
    return new GatewayError('upstream_failed', REMOVED.message, FINAL);
  const targets = maker ? [maker.choice] : rooms.catalog.order(model, rooms.random, rooms.now());
  return start(rooms, held, request, targets);
}

const FINAL = { retryable: false } as const;

/** A start that was sent, and whose answer nobody has seen. As `start`. */
async function retrace(rooms: TaskRooms, held: Held, request: TaskRequest): Promise<GatewayError | undefined> {
  const { task } = held;
  const maker = makerOf(rooms, task);
  if (!maker) return new GatewayError('upstream_failed', REMOVED.message, FINAL);
  if (!maker.video.find && !maker.video.repeatable)
    return new GatewayError('upstream_failed', UNCERTAIN.message, FINAL);
  let found: Started | undefined;
  try {
    found = await lookedUp(rooms, task, request, maker);
  } catch (thrown) {
    const { code, message } = asGatewayError(thrown);
    // Whatever the vendor says to that, it is no refusal of the task.
    return new GatewayError(code, message, { retryable: true, cause: thrown });
  }
  if (found) {
    await startedBy(rooms, held, found, maker);
    return undefined;
  }
  const error = await attempt(rooms, held, maker, request);
  return error?.inDoubt ? doubt(rooms, held, maker, error) : error;
}

/** What the vendor knows of the task by our id. Throws where it does not say. */
async function lookedUp(
  rooms: TaskRooms,
  { id, ask: asked }: Task,
  { pictures }: TaskRequest,
  { provider, video: { find }, target }: Maker,
): Promise<Started | undefined> {
  const ask = { ...asked, pictures };
  const found = find?.read(await exchange(rooms, provider, find.ask(id, target, ask), target), ask);
  return found && boundedStart(found);
}
