/** Videos as tasks: creating, reading, listing, removing and remixing them, in every API format. */
import { createHash } from 'node:crypto';
import { type Caller, nameFor } from '../access/access.ts';
import { asGatewayError, GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import type { Json } from '../canonical/json.ts';
import { isOver, type VideoCall } from '../canonical/task.ts';
import { settledWithin } from '../canonical/time.ts';
import type { Model, ModelTarget } from '../catalog/catalog.ts';
import { offered } from '../catalog/offer.ts';
import { unknownModel } from '../gateway/admit/unknown-model.ts';
import { type HoldRequest, LASTING_OWNER } from '../ledger/ledger.ts';
import { labelsOf, NO_LABELS, type RequestHeaders } from '../telemetry/events.ts';
import { cancel } from './cancel.ts';
import { concludeTask, fail, type RunningCall, runningCall } from './finish.ts';
import { groupFor, mergedTask, SIBLING, siblingsOf, tasksFor } from './group.ts';
import { type Held, holding, LEASE_MS } from './held-task.ts';
import { inDoubt, start } from './start.ts';
import { readTask, type Task, type TaskRequest, writeBody } from './task.ts';
import type { TaskDeps } from './task-deps.ts';
import { noRemix, unfinished, unknownVideo } from './video-errors.ts';
import { quoteVideo } from './video-price.ts';
import { withQuality, withTakenSize } from './video-quality.ts';
import { nameOf, type VideoTarget, videoTargetAt, videoTargetOf } from './video-targets.ts';

/** A request for a new task. */
export interface Submission {
  caller: Caller;
  /** The API format's name. */
  format: string;
  ask: VideoCall;
  idempotencyKey?: string;
  /** Refuse what the provider's format cannot express. */
  strict: boolean;
  /** Of the request: its trace and its metadata. */
  headers?: RequestHeaders;
  /** Told the id of the task when its hold is taken: then it has a record of its own, also if it is refused. */
  held?(id: string): void;
}

/** The video tasks of callers. A task of another account does not exist for a caller. */
export interface VideoTasks {
  /** Throws the errors of an admission, and the provider's refusal. The same idempotency key returns the first task. */
  create(submission: Submission): Promise<Task>;
  /** Throws `not_found` if it does not exist or belongs to another account. */
  find(caller: Caller, id: string): Promise<Task>;
  /** The record of a task that continues. `undefined`: there is none, or it has ended and `calls` has its record. */
  running(id: string): Promise<RunningCall | undefined>;
  list(caller: Caller, page: { limit: number; after?: string; oldestFirst?: boolean }): Promise<Task[]>;
  /** Cancels a running task if its provider can; otherwise throws `conflict`. */
  remove(caller: Caller, id: string): Promise<void>;
  /** Waits for running starts: an interrupted one would have an unknown result. */
  drain(boundMs: number): Promise<void>;
}

/** Longer than any start; leases of dead processes are ended by others. */
const STARTING_MS = 600_000;

/** Only creates and reads tasks; `startRunner` continues them. */
export function createVideoTasks(deps: TaskDeps): VideoTasks {
  const underWay = new Set<Promise<unknown>>();

  async function create(submission: Submission): Promise<Task> {
    const { caller, ask: asked, idempotencyKey } = submission;
    const listed = modelFor(deps, caller, asked);
    const fingerprint = idempotencyKey === undefined ? undefined : digestOf(asked);
    const earlier =
      idempotencyKey === undefined ? undefined : await deps.store.tasks.taskByKey(caller.account, idempotencyKey);
    if (earlier) return whole(sameAs(readTask(earlier), fingerprint));
    const now = deps.now();
    const model = offered(listed, now, caller.priceFactor);
    if (asked.webhook !== undefined) deps.guard.check(asked.webhook);
    const origin = await originOf(deps, caller, asked);
    const targets = origin ? [origin.videoTarget.choice] : deps.catalog.order(model, deps.random);
    const count = origin ? 1 : tasksFor(deps, asked.n, targets);
    const ordered = count === 1 ? asked : { ...asked, n: 1 };
    const task = newTask(deps, {
      ...submission,
      ask: orderFor(deps, ordered, model, targets),
      model,
      now,
      fingerprint,
      origin,
    });
    const pace = await deps.access.admit(caller, task.id, 0);
    try {
      const group = groupFor(task, count);
      await holdAll(group, caller);
      submission.held?.(task.id);
      const begun = begin(group, asked, targets, idempotencyKey, fingerprint);
      underWay.add(begun);
      return await begun.finally(() => underWay.delete(begun));
    } finally {
      pace.end(0);
    }
  }

  /** Holds for all tasks, or for none. */
  async function holdAll(group: readonly Task[], caller: Caller): Promise<void> {
    const holds = await Promise.allSettled(group.map((task) => deps.ledger.hold(holdFor(task, caller))));
    const refused = holds.find((hold) => hold.status === 'rejected');
    if (!refused) return;
    const { code, message, status } = asGatewayError(refused.reason);
    for (const [place, hold] of holds.entries())
      if (hold.status === 'fulfilled')
        await concludeTask(deps, group[place]!, 0n, 'refused', { error: { code, message, status } });
    throw refused.reason;
  }

  async function begin(
    group: readonly [Task, ...Task[]],
    asked: VideoCall,
    targets: readonly ModelTarget[],
    idempotencyKey: string | undefined,
    fingerprint: string | undefined,
  ): Promise<Task> {
    const request: TaskRequest = { images: asked.images };
    const [task, ...siblings] = group;
    const row = {
      id: task.id,
      account: task.account,
      createdAt: task.createdAt,
      dueAt: task.createdAt,
      body: writeBody(task),
      request: JSON.stringify(request),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    };
    const inserted = await deps.store.tasks
      .insert(row, deps.worker, task.createdAt + LEASE_MS)
      // The row may exist nevertheless; if it does not, the hold is released as an orphan.
      .catch((thrown) => Promise.reject(inDoubt(asGatewayError(thrown))));
    if (inserted.id !== task.id) {
      for (const one of group) await concludeTask(deps, one, 0n, 'refused');
      return whole(sameAs(readTask(inserted), fingerprint));
    }
    for (const one of siblings) await insertSibling(one, request);
    const held: Held = { task, lost: false };
    const refusal = await holding(deps, held, () => start(deps, held, request, targets)).catch(asGatewayError);
    if (!refusal) {
      for (const one of siblings) await hand(one);
      return mergedTask(held.task, siblings);
    }
    // If it may have been started, the row stays and the runner continues with it.
    if (refusal.inDoubt || held.task.sent) throw inDoubt(refusal);
    await forget(held.task, refusal);
    for (const one of siblings) await forgetSibling(one, refusal);
    throw refusal;
  }

  /** Leased to this process until the first task is started: if the provider refuses that one, all are refused. */
  async function insertSibling(task: Task, request: TaskRequest): Promise<void> {
    const { id, account, createdAt } = task;
    const row = { id, account, createdAt, dueAt: createdAt, body: writeBody(task), request: JSON.stringify(request) };
    await deps.store.tasks
      .insert(row, deps.worker, createdAt + STARTING_MS)
      .catch((thrown) => Promise.reject(inDoubt(asGatewayError(thrown))));
  }

  /** The provider refused the first task, so this one is not started. */
  async function forgetSibling(task: Task, refusal: GatewayError): Promise<void> {
    if (await deps.store.tasks.extend(task.id, deps.worker, deps.now() + LEASE_MS)) await forget(task, refusal);
  }

  /** Releases it to the runner, which starts it. */
  async function hand(task: Task): Promise<void> {
    const change = { body: writeBody(task), dueAt: deps.now(), release: true };
    await deps.store.tasks.save(task.id, deps.worker, change).catch((thrown) => {
      // The lease expires, and the task is started then.
      deps.reportError(`The task ${task.id} could not be handed on.`, thrown);
    });
  }

  /** The client gets an error, so nothing of the task stays except the record of the call. */
  async function forget(task: Task, { code, message, status }: GatewayError): Promise<void> {
    try {
      await deps.store.tasks.remove(task.id);
    } catch (thrown) {
      // The runner will find the task and start it.
      throw inDoubt(asGatewayError(thrown));
    }
    await concludeTask(deps, task, 0n, 'refused', { error: { code, message, status } });
  }

  async function whole(task: Task): Promise<Task> {
    return task.siblings ? mergedTask(task, await siblingsOf(deps, task)) : task;
  }

  async function find(caller: Caller, id: string): Promise<Task> {
    const row = await deps.store.tasks.task(id);
    if (row?.account !== caller.account || id.startsWith(SIBLING)) throw unknownVideo(id);
    return whole(readTask(row));
  }

  async function removeOne(task: Task): Promise<void> {
    const ended = isOver(task) ? task : await giveUp(deps, task.id);
    for (const file of ended.files ?? []) await deps.files.remove(file);
    await deps.store.tasks.remove(task.id);
  }

  return {
    create,
    find,
    async running(id) {
      const row = await deps.store.tasks.task(id);
      return row && runningCall(deps, readTask(row));
    },
    async drain(boundMs) {
      await settledWithin(underWay, boundMs);
    },
    async list(caller, page) {
      const rows = await deps.store.tasks.tasks(caller.account, { ...page, without: SIBLING });
      return Promise.all(rows.map((row) => whole(readTask(row))));
    },
    async remove(caller, id) {
      const task = await find(caller, id);
      for (const one of await siblingsOf(deps, task)) await removeOne(one);
      const first = await deps.store.tasks.task(id);
      if (first) await removeOne(readTask(first));
    },
  };
}

/** Cancels a running task if its provider can. If the provider has just finished it, it must be charged. */
async function giveUp(deps: TaskDeps, id: string): Promise<Task> {
  const row = (await takeSoon(deps, id)) && (await deps.store.tasks.task(id));
  if (!row) throw busy();
  const held: Held = { task: readTask(row), lost: false };
  return holding(deps, held, async () => {
    const { task } = held;
    if (isOver(task)) return task;
    if (!task.due && (await cancel(deps, task).catch(() => false))) {
      await fail(deps, held, { code: 'cancelled', message: 'The video was removed before it was made.' });
      return held.task;
    }
    const dueAt = deps.now();
    await deps.store.tasks.save(id, deps.worker, { body: writeBody(task), dueAt, release: true });
    throw busy();
  });
}

const MOST_TAKES = 25;
const TAKES_PAUSE_MS = 200;

/** Takes the lease, waiting for a worker that has it. */
async function takeSoon({ store, worker, now }: TaskDeps, id: string): Promise<boolean> {
  for (let takes = 1; takes <= MOST_TAKES; takes++) {
    if (await store.tasks.take(id, worker, now(), now() + LEASE_MS)) return true;
    await Bun.sleep(TAKES_PAUSE_MS);
  }
  return false;
}

function busy(): GatewayError {
  return new GatewayError(
    'conflict',
    'The video is still being generated, and its provider cannot cancel it: remove it when it has ended.',
  );
}

function modelFor(deps: TaskDeps, caller: Caller, ask: VideoCall): Model {
  const name = ask.model === '' ? deps.settings.defaultModel : ask.model;
  if (name === undefined) {
    throw new GatewayError('invalid_request', '`model` is missing: there is no default model for videos.', {
      param: 'model',
    });
  }
  const model = deps.catalog.find(nameFor(caller, name));
  deps.access.allowScope(caller, 'video');
  if (!model) throw unknownModel(deps, caller, name);
  deps.access.allowModel(caller, model, name);
  if (model.kind !== 'video') {
    throw new GatewayError(
      'invalid_request',
      `The model \`${name}\` is of kind ${model.kind}: it does not generate videos.`,
      {
        param: 'model',
      },
    );
  }
  return model;
}

/** For a remix: the provider's id of the original, and its target. */
interface RemixSource {
  videoTarget: VideoTarget;
  source: Json;
}

/** A remix is generated at the target of the original. */
async function originOf(deps: TaskDeps, caller: Caller, { remixOf }: VideoCall): Promise<RemixSource | undefined> {
  if (remixOf === undefined) return undefined;
  const row = await deps.store.tasks.task(remixOf);
  if (row?.account !== caller.account) throw unknownVideo(remixOf);
  const first = readTask(row);
  const videoTarget = videoTargetOf(deps, first);
  if (!videoTarget?.video.remix) throw noRemix();
  if (first.state !== 'completed' || first.handle === undefined) throw unfinished();
  return { videoTarget, source: first.handle };
}

/** The length is always set, so that the price is known; so is the quality, if there is a choice. */
function orderFor(deps: TaskDeps, ask: VideoCall, model: Model, targets: readonly ModelTarget[]): VideoCall {
  const adapters = targets.flatMap((choice) => videoTargetAt(deps, choice)?.video ?? []);
  const seconds = ask.seconds ?? Math.max(0, ...adapters.map(({ defaultSeconds }) => defaultSeconds));
  const allowsUnpriced = deps.settings.unpricedExtras === 'allow';
  return withQuality(
    { ...withTakenSize(ask, adapters), model: model.name, seconds },
    { adapters, price: model.price, allowsUnpriced },
  );
}

function newTask(
  deps: TaskDeps,
  {
    caller,
    format,
    ask,
    model,
    now,
    fingerprint,
    strict,
    origin,
    headers,
  }: Pick<Submission, 'caller' | 'format' | 'ask' | 'strict' | 'headers'> & {
    model: Model;
    now: number;
    fingerprint: string | undefined;
    origin: RemixSource | undefined;
  },
): Task {
  const { images: _, ...rest } = ask;
  return {
    id: newId('video_', 32),
    account: caller.account,
    key: caller.key,
    createdAt: now,
    deadlineAt: now + deps.settings.taskMs,
    format,
    ask: rest,
    priceId: model.priceId,
    held: quoteVideo(ask, model.price),
    state: 'queued',
    percent: 0,
    looks: 0,
    failures: 0,
    attempts: 0,
    outputs: [],
    ...(ask.webhook !== undefined && { webhook: { url: ask.webhook, tries: 0 } }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(strict && { strict: true }),
    ...(headers && sentWith(ask, headers)),
    ...(origin && { target: nameOf(origin.videoTarget), source: origin.source }),
  };
}

/** What the record and the spans of the task need of its request. */
function sentWith({ user }: VideoCall, headers: RequestHeaders): Pick<Task, 'labels' | 'parent'> {
  const labels = labelsOf(user === undefined ? {} : { user }, headers, true);
  const traceparent = headers.get('traceparent');
  const tracestate = headers.get('tracestate');
  return {
    ...(labels !== NO_LABELS && { labels }),
    ...(traceparent && { parent: { traceparent, ...(tracestate && { tracestate }) } }),
  };
}

function holdFor(task: Task, caller: Caller): HoldRequest {
  return {
    callId: task.id,
    account: task.account,
    key: task.key,
    amount: task.held,
    model: task.ask.model,
    priceId: task.priceId,
    at: task.createdAt,
    owner: LASTING_OWNER,
    ...(caller.budget && { budget: caller.budget }),
    ...(caller.accountBudget && { accountBudget: caller.accountBudget }),
  };
}

function sameAs(task: Task, fingerprint: string | undefined): Task {
  if (task.fingerprint === fingerprint) return task;
  throw new GatewayError('conflict', 'The `Idempotency-Key` was already used with another request.', {
    param: 'Idempotency-Key',
  });
}

function digestOf(ask: VideoCall): string {
  return createHash('sha256').update(JSON.stringify(ask)).digest('hex');
}
