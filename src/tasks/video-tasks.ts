/** Videos as tasks: made, read, listed, removed, made anew; whatever door they come in by. */
import { createHash } from 'node:crypto';
import type { Caller } from '../access/access.ts';
import { asGatewayError, GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import type { Json } from '../canonical/json.ts';
import { isOver, type VideoAsk } from '../canonical/task.ts';
import type { Model, ModelTarget } from '../catalog/catalog.ts';
import { type HoldRequest, LASTING_OWNER } from '../ledger/ledger.ts';
import { cancel } from './cancel.ts';
import { conclude, fail } from './ending.ts';
import { groupFor, SIBLING, siblingsOf, tasksFor, together } from './group.ts';
import { type Held, holding, LEASE_MS } from './held-task.ts';
import { type Maker, makerAt, makerOf, nameOf } from './makers.ts';
import type { TaskRooms } from './rooms.ts';
import { settledWithin } from './settled-within.ts';
import { inDoubt, start } from './starting.ts';
import { readTask, type Task, type TaskRequest, writeBody } from './task.ts';
import { quoteVideo } from './video-price.ts';
import { withQuality, withTakenSize } from './video-quality.ts';

export interface Submission {
  caller: Caller;
  /** The door's name. */
  door: string;
  ask: VideoAsk;
  idempotencyKey?: string;
  /** What cannot be told to the vendor is refused. */
  strict: boolean;
}

export interface VideoTasks {
  /** Throws what an admission throws, and the vendor's refusal. The same idempotency key again is the first task. */
  create(submission: Submission): Promise<Task>;
  /** Throws `not_found`: there is none, or it is another account's. */
  find(caller: Caller, id: string): Promise<Task>;
  list(caller: Caller, page: { limit: number; after?: string; oldestFirst?: boolean }): Promise<Task[]>;
  /** Ends it where it is under way and its vendor can be told; throws `conflict` where it cannot. */
  remove(caller: Caller, id: string): Promise<void>;
  /** Waits for starts under way: one that is broken off is in doubt. */
  drain(boundMs: number): Promise<void>;
}

/** A start takes less; the leases of a process that dies are ended by others. */
const STARTING_MS = 600_000;

export function createVideoTasks(rooms: TaskRooms): VideoTasks {
  const underWay = new Set<Promise<unknown>>();

  async function create({ caller, door, ask: asked, idempotencyKey, strict }: Submission): Promise<Task> {
    const model = modelFor(rooms, caller, asked);
    const fingerprint = idempotencyKey === undefined ? undefined : digestOf(asked);
    const earlier =
      idempotencyKey === undefined ? undefined : await rooms.store.tasks.taskByKey(caller.account, idempotencyKey);
    if (earlier) return whole(sameAs(readTask(earlier), fingerprint));
    const now = rooms.now();
    if (asked.webhook !== undefined) rooms.guard.check(asked.webhook);
    const origin = await originOf(rooms, caller, asked);
    const targets = origin ? [origin.maker.choice] : rooms.catalog.order(model, rooms.random, now);
    const count = origin ? 1 : tasksFor(rooms, asked.n, targets);
    const ordered = count === 1 ? asked : { ...asked, n: 1 };
    const task = newTask(rooms, {
      caller,
      door,
      ask: orderFor(rooms, ordered, model, targets),
      model,
      now,
      fingerprint,
      strict,
      origin,
    });
    const pace = await rooms.access.admit(caller, task.id, 0);
    try {
      const group = groupFor(task, count);
      await holdAll(group, caller);
      const begun = begin(group, asked, targets, idempotencyKey, fingerprint);
      underWay.add(begun);
      return await begun.finally(() => underWay.delete(begun));
    } finally {
      pace.end(0);
    }
  }

  /** All of them, or none. */
  async function holdAll(group: readonly Task[], caller: Caller): Promise<void> {
    const holds = await Promise.allSettled(group.map((task) => rooms.ledger.hold(holdFor(task, caller))));
    const refused = holds.find((hold) => hold.status === 'rejected');
    if (!refused) return;
    for (const [place, hold] of holds.entries())
      if (hold.status === 'fulfilled') await conclude(rooms, group[place]!, 0n, 'refused');
    throw refused.reason;
  }

  async function begin(
    group: readonly [Task, ...Task[]],
    asked: VideoAsk,
    targets: readonly ModelTarget[],
    idempotencyKey: string | undefined,
    fingerprint: string | undefined,
  ): Promise<Task> {
    const request: TaskRequest = { pictures: asked.pictures };
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
    const inserted = await rooms.store.tasks
      .insert(row, rooms.worker, task.createdAt + LEASE_MS)
      // It may be there all the same: if it is not, its hold is an orphan.
      .catch((thrown) => Promise.reject(inDoubt(asGatewayError(thrown))));
    if (inserted.id !== task.id) {
      for (const one of group) await conclude(rooms, one, 0n, 'refused');
      return whole(sameAs(readTask(inserted), fingerprint));
    }
    for (const one of siblings) await insertSibling(one, request);
    const held: Held = { task, lost: false };
    const refusal = await holding(rooms, held, () => start(rooms, held, request, targets)).catch(asGatewayError);
    if (!refusal) {
      for (const one of siblings) await hand(one);
      return together(held.task, siblings);
    }
    // Of what may have been started its row stays, for whoever looks after tasks.
    if (refusal.inDoubt || held.task.sent) throw inDoubt(refusal);
    await forget(held.task);
    for (const one of siblings) await forgetSibling(one);
    throw refusal;
  }

  /** In this process's hands until the first one is started: what the vendor refuses is refused for all of them. */
  async function insertSibling(task: Task, request: TaskRequest): Promise<void> {
    const { id, account, createdAt } = task;
    const row = { id, account, createdAt, dueAt: createdAt, body: writeBody(task), request: JSON.stringify(request) };
    await rooms.store.tasks
      .insert(row, rooms.worker, createdAt + STARTING_MS)
      .catch((thrown) => Promise.reject(inDoubt(asGatewayError(thrown))));
  }

  /** What the vendor refused the first of is not started. */
  async function forgetSibling(task: Task): Promise<void> {
    if (await rooms.store.tasks.extend(task.id, rooms.worker, rooms.now() + LEASE_MS)) await forget(task);
  }

  /** Into the hands of whoever looks after tasks, who starts it. */
  async function hand(task: Task): Promise<void> {
    const change = { body: writeBody(task), dueAt: rooms.now(), release: true };
    await rooms.store.tasks.save(task.id, rooms.worker, change).catch((thrown) => {
      // Its lease ends, and it is started all the same.
      rooms.trouble(`The task ${task.id} could not be handed on.`, thrown);
    });
  }

  /** The client is told that there is no task: nothing of it stays but the record of the call. */
  async function forget(task: Task): Promise<void> {
    try {
      await rooms.store.tasks.remove(task.id);
    } catch (thrown) {
      // Whoever looks after tasks will find it, and start it.
      throw inDoubt(asGatewayError(thrown));
    }
    await conclude(rooms, task, 0n, 'refused');
  }

  async function whole(task: Task): Promise<Task> {
    return task.siblings ? together(task, await siblingsOf(rooms, task)) : task;
  }

  async function find(caller: Caller, id: string): Promise<Task> {
    const row = await rooms.store.tasks.task(id);
    if (row?.account !== caller.account || id.startsWith(SIBLING)) throw unknown(id);
    return whole(readTask(row));
  }

  async function removeOne(task: Task): Promise<void> {
    const ended = isOver(task) ? task : await giveUp(rooms, task.id);
    for (const file of ended.files ?? []) await rooms.files.remove(file);
    await rooms.store.tasks.remove(task.id);
  }

  return {
    create,
    find,
    drain: (boundMs) => settledWithin(underWay, boundMs),
    async list(caller, page) {
      const rows = await rooms.store.tasks.tasks(caller.account, { ...page, without: SIBLING });
      return Promise.all(rows.map((row) => whole(readTask(row))));
    },
    async remove(caller, id) {
      const task = await find(caller, id);
      for (const one of await siblingsOf(rooms, task)) await removeOne(one);
      const first = await rooms.store.tasks.task(id);
      if (first) await removeOne(readTask(first));
    },
  };
}

/** Ends a task under way, where its vendor can be told; what the vendor has finished by now is to be paid for. */
async function giveUp(rooms: TaskRooms, id: string): Promise<Task> {
  const row = (await takeSoon(rooms, id)) && (await rooms.store.tasks.task(id));
  if (!row) throw busy();
  const held: Held = { task: readTask(row), lost: false };
  return holding(rooms, held, async () => {
    const { task } = held;
    if (isOver(task)) return task;
    if (!task.due && (await cancel(rooms, task).catch(() => false))) {
      await fail(rooms, held, { code: 'cancelled', message: 'The video was removed before it was made.' });
      return held.task;
    }
    const dueAt = rooms.now();
    await rooms.store.tasks.save(id, rooms.worker, { body: writeBody(task), dueAt, release: true });
    throw busy();
  });
}

const MOST_TAKES = 25;
const TAKES_PAUSE_MS = 200;

/** Out of the hands of whoever is looking at it just now. */
async function takeSoon({ store, worker, now }: TaskRooms, id: string): Promise<boolean> {
  for (let takes = 1; takes <= MOST_TAKES; takes++) {
    if (await store.tasks.take(id, worker, now(), now() + LEASE_MS)) return true;
    await Bun.sleep(TAKES_PAUSE_MS);
  }
  return false;
}

function busy(): GatewayError {
  return new GatewayError(
    'conflict',
    'The video is still being made, and its vendor cannot be stopped: remove it once it has ended.',
  );
}

function modelFor(rooms: TaskRooms, caller: Caller, ask: VideoAsk): Model {
  const name = ask.model === '' ? rooms.settings.defaultModel : ask.model;
  if (name === undefined) {
    throw new GatewayError('invalid_request', '`model` is missing: there is no default for videos here.', {
      param: 'model',
    });
  }
  const model = rooms.catalog.find(name);
  rooms.access.allowScope(caller, 'video');
  if (!model) {
    const sentence = `The model \`${name}\` does not exist or you do not have access to it. GET /v1/models lists the models; letter case counts.`;
    throw new GatewayError('model_not_found', sentence, { param: 'model' });
  }
  rooms.access.allowModel(caller, name);
  if (model.kind !== 'video') {
    throw new GatewayError('invalid_request', `The model \`${name}\` is of kind ${model.kind}: it makes no videos.`, {
      param: 'model',
    });
  }
  return model;
}

/** Of a video that is made of another: what its vendor knows that one by, and where it was made. */
interface Origin {
  maker: Maker;
  source: Json;
}

/** A video made anew is made where the first one was. */
async function originOf(rooms: TaskRooms, caller: Caller, { remixOf }: VideoAsk): Promise<Origin | undefined> {
  if (remixOf === undefined) return undefined;
  const row = await rooms.store.tasks.task(remixOf);
  if (row?.account !== caller.account) throw unknown(remixOf);
  const first = readTask(row);
  const maker = makerOf(rooms, first);
  if (!maker?.video.remix) throw noRemix();
  if (first.state !== 'completed' || first.handle === undefined) throw unfinished();
  return { maker, source: first.handle };
}

function unknown(id: string): GatewayError {
  return new GatewayError(
    'not_found',
    `There is no video \`${id}\`: the id of a task is in the reply that ordered it.`,
    { param: 'task_id' },
  );
}

function unfinished(): GatewayError {
  const sentence = 'Only a finished video can be made anew: ask for its status until it is `completed`.';
  return new GatewayError('conflict', sentence, { param: 'id' });
}

function noRemix(): GatewayError {
  return new GatewayError(
    'invalid_request',
    "This video's model cannot make a video anew: create one with the whole prompt.",
    { param: 'id' },
  );
}

/** The length is always said, so that it is known what is paid for; and how well it is made, where there is a choice. */
function orderFor(rooms: TaskRooms, ask: VideoAsk, model: Model, targets: readonly ModelTarget[]): VideoAsk {
  const makers = targets.flatMap((choice) => makerAt(rooms, choice)?.video ?? []);
  const seconds = ask.seconds ?? Math.max(0, ...makers.map(({ defaultSeconds }) => defaultSeconds));
  const allowsUnpriced = rooms.settings.unpricedExtras === 'allow';
  return withQuality(
    { ...withTakenSize(ask, makers), model: model.name, seconds },
    { makers, price: model.price, allowsUnpriced },
  );
}

function newTask(
  rooms: TaskRooms,
  {
    caller,
    door,
    ask,
    model,
    now,
    fingerprint,
    strict,
    origin,
  }: Pick<Submission, 'caller' | 'door' | 'ask' | 'strict'> & {
    model: Model;
    now: number;
    fingerprint: string | undefined;
    origin: Origin | undefined;
  },
): Task {
  const { pictures: _, ...rest } = ask;
  return {
    id: newId('video_', 32),
    account: caller.account,
    key: caller.key,
    createdAt: now,
    deadlineAt: now + rooms.settings.taskMs,
    door,
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
    ...(origin && { target: nameOf(origin.maker), source: origin.source }),
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
  throw new GatewayError('conflict', 'The `Idempotency-Key` was used before with another request.', {
    param: 'Idempotency-Key',
  });
}

function digestOf(ask: VideoAsk): string {
  return createHash('sha256').update(JSON.stringify(ask)).digest('hex');
}
