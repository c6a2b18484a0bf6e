/** Starts a task at its provider, at most once if the provider allows to find out. */
import { asGatewayError, GatewayError } from '../canonical/errors.ts';
import { advance, type TaskError } from '../canonical/task.ts';
import type { ModelTarget } from '../catalog/catalog.ts';
import type { Outgoing } from '../providers/outgoing.ts';
import { withOwnMembers } from '../providers/video/own-members.ts';
import type { ProviderAnswer, Started, StartRequest } from '../providers/video/video.ts';
import { boundedStart } from './bounded-answers.ts';
import { exchange, send } from './exchange.ts';
import { fail } from './finish.ts';
import { type Held, save } from './held-task.ts';
import { nextLook } from './pace.ts';
import { readTaskRequest, type Task, type TaskRequest } from './task.ts';
import { attemptBegins, attemptEnds } from './task-attempts.ts';
import type { TaskDeps } from './task-deps.ts';
import { nameOf, REMOVED, type VideoTarget, videoTargetAt, videoTargetOf } from './video-targets.ts';
import { later } from './waiting.ts';

const UNCERTAIN: TaskError = {
  code: 'upstream_failed',
  message: 'It is not known whether the provider accepted the task: it was abandoned, and nothing was charged.',
};

/** A proxy in front of the provider timed out; 524 is Cloudflare's. */
const UNANSWERED: ReadonlySet<number> = new Set([408, 504, 524]);

/** How often saving the provider's task id is retried: about the duration of a lease. */
const MOST_SAVES = 100;
const SAVES_PAUSE_MS = 250;

/**
 * Starts a task that was not sent yet, at the first target that accepts it. Returns the reason if it was not started. With `inDoubt` it may
 * have been started, and was abandoned. Throws only if the store does.
 */
export async function start(
  deps: TaskDeps,
  held: Held,
  request: TaskRequest,
  targets: readonly ModelTarget[],
): Promise<GatewayError | undefined> {
  let refusal: GatewayError | undefined;
  /** The credentials tried at the current target. */
  let tried: (string | undefined)[] = [];
  const left = [...targets];
  for (let choice = left.shift(); choice; choice = left.shift()) {
    if (tried.length === 0) tried = [deps.catalog.credential(choice)];
    const credential = tried.at(-1);
    const videoTarget = videoTargetAt(deps, choice, undefined, credential);
    if (!videoTarget) {
      tried = [];
      continue;
    }
    const { task } = held;
    held.task = { ...task, target: nameOf(videoTarget), attempts: task.attempts + 1 };
    const error = await attempt(deps, held, videoTarget, request);
    if (!error) {
      deps.catalog.succeeded(choice, credential);
      return undefined;
    }
    const next = deps.catalog.another(choice, tried, error);
    tried = next === undefined ? [] : [...tried, next];
    if (next !== undefined) left.unshift(choice);
    // Another target could make a second video.
    if (error.inDoubt) return doubt(deps, held, videoTarget, error);
    if (held.task.sent) {
      const { sent: _, ...unsent } = held.task;
      held.task = unsent;
      if (!(await save(deps, held, deps.now()))) return undefined;
    }
    if (!error.retryable) return error;
    refusal = error;
  }
  return refusal ?? new GatewayError('upstream_failed', 'The model has no provider that generates videos.');
}

/** If the provider can be queried, or recognises a repeated start, the task continues; otherwise it is abandoned. */
async function doubt(
  deps: TaskDeps,
  held: Held,
  { video }: VideoTarget,
  cause: GatewayError,
): Promise<GatewayError | undefined> {
  if (video.find || video.repeatable) {
    await later(deps, held, cause);
    return undefined;
  }
  await fail(deps, held, UNCERTAIN);
  return new GatewayError(cause.code, UNCERTAIN.message, { inDoubt: true, cause });
}

/** Returns the reason why the provider did not accept it, with `inDoubt` if that is unknown. Throws only if the store does. */
async function attempt(
  deps: TaskDeps,
  held: Held,
  videoTarget: VideoTarget,
  request: TaskRequest,
): Promise<GatewayError | undefined> {
  let outgoing: Outgoing;
  try {
    outgoing = await prepare(deps, held, videoTarget, request);
  } catch (thrown) {
    return asGatewayError(thrown);
  }
  // As late as possible: after this, a crash leaves a start of unknown result.
  held.task = { ...held.task, sent: true };
  const headers = { ...outgoing.headers };
  attemptBegins(deps, held, videoTarget, headers);
  if (!(await save(deps, held, deps.now()))) return undefined;
  let started: Started;
  let status = 0;
  try {
    const ask = { ...held.task.ask, images: request.images };
    const answered = await sendOnce(deps, { ...outgoing, headers });
    ({ status } = answered);
    if (UNANSWERED.has(status)) throw unanswered();
    started = boundedStart(videoTarget.video.readStart(answered, ask));
  } catch (thrown) {
    // An error in the gateway's own code is not a refusal by the provider.
    const error = thrown instanceof GatewayError ? thrown : inDoubt(asGatewayError(thrown));
    attemptEnds(deps, held, status, error);
    return error;
  }
  attemptEnds(deps, held, status);
  await startedBy(deps, held, started, videoTarget);
  return undefined;
}

/**
 * The signed request. Throws `lossy_translation` if the client requires a complete translation and the provider's format cannot express it.
 */
async function prepare(
  deps: TaskDeps,
  held: Held,
  { provider, video, target }: VideoTarget,
  { images }: TaskRequest,
): Promise<Outgoing> {
  const { task } = held;
  const { ask, unsaid } = withOwnMembers(video, { ...task.ask, images });
  const { outgoing, warnings: lost }: StartRequest =
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

/** Throws an `inDoubt` error if the request was sent and no response came. */
async function sendOnce(deps: TaskDeps, outgoing: Outgoing): Promise<ProviderAnswer> {
  try {
    return await send(deps, { ...outgoing, once: true });
  } catch (thrown) {
    const error = asGatewayError(thrown);
    throw error.unsent ? error : inDoubt(error);
  }
}

const unanswered = () =>
  new GatewayError('upstream_timeout', 'The provider took too long to accept the task.', { inDoubt: true });

/** The same error, for a start that may have succeeded. */
export function inDoubt(cause: GatewayError): GatewayError {
  return cause.inDoubt ? cause : new GatewayError(cause.code, cause.message, { inDoubt: true, cause });
}

/** The provider has accepted the task: its id is saved first, however long the store takes. */
async function startedBy(
  deps: TaskDeps,
  held: Held,
  { handle, seen }: Started,
  { video: { firstLookMs } }: VideoTarget,
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

/** A task without a provider id, taken over from a dead process: started only if it was certainly not started before. */
export async function recover(deps: TaskDeps, held: Held): Promise<void> {
  const { task } = held;
  const request = readTaskRequest(await deps.store.tasks.request(task.id));
  const error = await (task.sent ? retrace(deps, held, request) : startLate(deps, held, request));
  if (!error || error.inDoubt) return;
  if (error.retryable) return later(deps, held, error);
  await fail(deps, held, { code: error.providerCode ?? error.code, message: error.message });
}

/** Returns and throws as `start`. */
async function startLate(deps: TaskDeps, held: Held, request: TaskRequest): Promise<GatewayError | undefined> {
  const { task } = held;
  // A remix is generated where the original was.
  const videoTarget = task.source === undefined ? undefined : videoTargetOf(deps, task);
  const model = deps.catalog.find(task.ask.model);
  if (!model || (task.source !== undefined && !videoTarget))
    return new GatewayError('upstream_failed', REMOVED.message, FINAL);
  const targets = videoTarget ? [videoTarget.choice] : deps.catalog.order(model, deps.random);
  return start(deps, held, request, targets);
}

const FINAL = { retryable: false } as const;

/** A start that was sent, and whose response no process has seen. Returns and throws as `start`. */
async function retrace(deps: TaskDeps, held: Held, request: TaskRequest): Promise<GatewayError | undefined> {
  const { task } = held;
  const videoTarget = videoTargetOf(deps, task);
  if (!videoTarget) return new GatewayError('upstream_failed', REMOVED.message, FINAL);
  if (!videoTarget.video.find && !videoTarget.video.repeatable)
    return new GatewayError('upstream_failed', UNCERTAIN.message, FINAL);
  let found: Started | undefined;
  try {
    found = await lookedUp(deps, task, request, videoTarget);
  } catch (thrown) {
    const { code, message } = asGatewayError(thrown);
    // Whatever the provider answers to this, it does not refuse the task.
    return new GatewayError(code, message, { retryable: true, cause: thrown });
  }
  if (found) {
    attemptEnds(deps, held, 0);
    await startedBy(deps, held, found, videoTarget);
    return undefined;
  }
  const error = await attempt(deps, held, videoTarget, request);
  return error?.inDoubt ? doubt(deps, held, videoTarget, error) : error;
}

/** Asks the provider for a task with our id. Throws if the provider gives no clear answer. */
async function lookedUp(
  deps: TaskDeps,
  { id, ask: asked }: Task,
  { images }: TaskRequest,
  { provider, video: { find }, target }: VideoTarget,
): Promise<Started | undefined> {
  const ask = { ...asked, images };
  const found = find?.read(await exchange(deps, provider, find.ask(id, target, ask), target), ask);
  return found && boundedStart(found);
}
