/** How a task is started at its provider: once, where anybody can tell. */
import { asGatewayError, GatewayError } from '../canonical/errors.ts';
import { advance, type TaskError } from '../canonical/task.ts';
import type { ModelTarget } from '../catalog/catalog.ts';
import type { Outgoing } from '../providers/provider.ts';
import { toldTo } from '../providers/video/own-members.ts';
import type { Answered, Started, Starting } from '../providers/video/video.ts';
import { boundedStart } from './bounded-answers.ts';
import { exchange, send } from './exchange.ts';
import { fail } from './finish.ts';
import { type Held, save } from './held-task.ts';
import { nextLook } from './pace.ts';
import { readTaskRequest, type Task, type TaskRequest } from './task.ts';
import type { TaskDeps } from './task-deps.ts';
import { type Maker, makerAt, makerOf, nameOf, REMOVED } from './video-makers.ts';
import { later } from './waiting.ts';

const UNCERTAIN: TaskError = {
  code: 'upstream_failed',
  message: 'It is not known whether the provider took the task on: it was given up, and nothing was charged.',
};

/** Somebody before the provider gave up waiting for it; the last is Cloudflare's own. */
const UNANSWERED: ReadonlySet<number> = new Set([408, 504, 524]);

/** A handle that the store does not take is saved again for about as long as a lease lasts. */
const MOST_SAVES = 100;
const SAVES_PAUSE_MS = 250;

/**
 * Starts a task that has not been sent, at the first target that takes it. Returns why it was not started; `inDoubt`: it may have been,
 * and it was given up. Throws only where the store does.
 */
export async function start(
  deps: TaskDeps,
  held: Held,
  request: TaskRequest,
  targets: readonly ModelTarget[],
): Promise<GatewayError | undefined> {
  let refusal: GatewayError | undefined;
  /** The credentials tried at the target before the next one. */
  let tried: (string | undefined)[] = [];
  const left = [...targets];
  for (let choice = left.shift(); choice; choice = left.shift()) {
    if (tried.length === 0) tried = [deps.catalog.credential(choice, deps.now())];
    const credential = tried.at(-1);
    const maker = makerAt(deps, choice, undefined, credential);
    if (!maker) {
      tried = [];
      continue;
    }
    const { task } = held;
    held.task = { ...task, target: nameOf(maker), attempts: task.attempts + 1 };
    const error = await attempt(deps, held, maker, request);
    if (!error) {
      deps.catalog.observe(choice, { ok: true }, deps.now(), credential);
      return undefined;
    }
    const next = deps.catalog.another(choice, tried, error, deps.now());
    tried = next === undefined ? [] : [...tried, next];
    if (next !== undefined) left.unshift(choice);
    // Never at another target: there would be two.
    if (error.inDoubt) return doubt(deps, held, maker, error);
    if (held.task.sent) {
      const { sent: _, ...unsent } = held.task;
      held.task = unsent;
      if (!(await save(deps, held, deps.now()))) return undefined;
    }
    if (!error.retryable) return error;
    refusal = error;
  }
  return refusal ?? new GatewayError('upstream_failed', 'The model has no provider that makes videos.');
}

/** Where the provider can be asked, or recognises a start again, the task goes on; else it is given up. */
async function doubt(
  deps: TaskDeps,
  held: Held,
  { video }: Maker,
  cause: GatewayError,
): Promise<GatewayError | undefined> {
  if (video.find || video.repeatable) {
    await later(deps, held, cause);
    return undefined;
  }
  await fail(deps, held, UNCERTAIN);
  return new GatewayError(cause.code, UNCERTAIN.message, { inDoubt: true, cause });
}

/** Returns why the provider did not take it on; `inDoubt` where that is not known. Throws only where the store does. */
async function attempt(
  deps: TaskDeps,
  held: Held,
  maker: Maker,
  request: TaskRequest,
): Promise<GatewayError | undefined> {
  let outgoing: Outgoing;
  try {
    outgoing = await prepare(deps, held, maker, request);
  } catch (thrown) {
    return asGatewayError(thrown);
  }
  // As late as can be: from here on a crash leaves a start in doubt.
  held.task = { ...held.task, sent: true };
  if (!(await save(deps, held, deps.now()))) return undefined;
  let started: Started;
  try {
    const ask = { ...held.task.ask, images: request.images };
    started = boundedStart(maker.video.readStart(await sendOnce(deps, outgoing), ask));
  } catch (thrown) {
    // An answer that our own code stumbled over is no refusal.
    return thrown instanceof GatewayError ? thrown : inDoubt(asGatewayError(thrown));
  }
  await startedBy(deps, held, started, maker);
  return undefined;
}

/** What to send, signed. Throws `lossy_translation` where its client wants all of it told and the provider cannot be. */
async function prepare(
  deps: TaskDeps,
  held: Held,
  { provider, video, target }: Maker,
  { images }: TaskRequest,
): Promise<Outgoing> {
  const { task } = held;
  const { ask, unsaid } = toldTo(video, { ...task.ask, images });
  const { outgoing, warnings: lost }: Starting =
    task.source !== undefined && video.remix
      ? video.remix(task.source, ask, target)
      : video.start(ask, target, task.id);
  const warnings = [...unsaid, ...lost];
  if (task.strict && warnings.length > 0) {
    throw new GatewayError('lossy_translation', `The model cannot express the whole request: ${warnings.join(' ')}`);
  }
  held.task = { ...task, warnings };
  await provider.authorize(outgoing, target, deps.signing);
  return outgoing;
}

/** Throws `inDoubt` where what was sent brought no answer. */
async function sendOnce(deps: TaskDeps, outgoing: Outgoing): Promise<Answered> {
  let answered: Answered;
  try {
    answered = await send(deps, { ...outgoing, once: true });
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

/** The provider has taken it on: what it is known by there is kept before anything else, however long the store takes. */
async function startedBy(
  deps: TaskDeps,
  held: Held,
  { handle, seen }: Started,
  { video: { firstLookMs } }: Maker,
): Promise<void> {
  const now = deps.now();
  held.task = { ...advance(held.task, seen, now), handle, failures: 0 };
  for (let saves = 1; ; saves++) {
    try {
      await save(deps, held, now + nextLook(0, deps.settings.pollMs || firstLookMs, deps.random()), {
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
export async function recover(deps: TaskDeps, held: Held): Promise<void> {
  const { task } = held;
  const request = readTaskRequest(await deps.store.tasks.request(task.id));
  const error = await (task.sent ? retrace(deps, held, request) : startLate(deps, held, request));
  if (!error || error.inDoubt) return;
  if (error.retryable) return later(deps, held, error);
  await fail(deps, held, { code: error.vendorCode ?? error.code, message: error.message });
}

/** As `start`. */
async function startLate(deps: TaskDeps, held: Held, request: TaskRequest): Promise<GatewayError | undefined> {
  const { task } = held;
  // A video is made anew where the first one was.
  const maker = task.source === undefined ? undefined : makerOf(deps, task);
  const model = deps.catalog.find(task.ask.model);
  if (!model || (task.source !== undefined && !maker))
    return new GatewayError('upstream_failed', REMOVED.message, FINAL);
  const targets = maker ? [maker.choice] : deps.catalog.order(model, deps.random, deps.now());
  return start(deps, held, request, targets);
}

const FINAL = { retryable: false } as const;

/** A start that was sent, and whose answer nobody has seen. As `start`. */
async function retrace(deps: TaskDeps, held: Held, request: TaskRequest): Promise<GatewayError | undefined> {
  const { task } = held;
  const maker = makerOf(deps, task);
  if (!maker) return new GatewayError('upstream_failed', REMOVED.message, FINAL);
  if (!maker.video.find && !maker.video.repeatable)
    return new GatewayError('upstream_failed', UNCERTAIN.message, FINAL);
  let found: Started | undefined;
  try {
    found = await lookedUp(deps, task, request, maker);
  } catch (thrown) {
    const { code, message } = asGatewayError(thrown);
    // Whatever the provider says to that, it is no refusal of the task.
    return new GatewayError(code, message, { retryable: true, cause: thrown });
  }
  if (found) {
    await startedBy(deps, held, found, maker);
    return undefined;
  }
  const error = await attempt(deps, held, maker, request);
  return error?.inDoubt ? doubt(deps, held, maker, error) : error;
}

/** What the provider knows of the task by our id. Throws where it does not say. */
async function lookedUp(
  deps: TaskDeps,
  { id, ask: asked }: Task,
  { images }: TaskRequest,
  { provider, video: { find }, target }: Maker,
): Promise<Started | undefined> {
  const ask = { ...asked, images };
  const found = find?.read(await exchange(deps, provider, find.ask(id, target, ask), target), ask);
  return found && boundedStart(found);
}
