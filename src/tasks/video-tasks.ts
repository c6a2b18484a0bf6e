/** Videos as tasks: made, read, listed, removed, made anew; whatever door they come in by. */
import { createHash } from 'node:crypto';
import type { Caller } from '../access/access.ts';
import { GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import { isOver, type VideoAsk } from '../canonical/task.ts';
import type { Model, ModelTarget } from '../catalog/catalog.ts';
import { type HoldRequest, LASTING_OWNER } from '../ledger/ledger.ts';
import { cancel } from './cancel.ts';
import { conclude, fail } from './ending.ts';
import { exchange } from './exchange.ts';
import { type Held, holding, LEASE_MS } from './held-task.ts';
import { makerAt, makerOf } from './makers.ts';
import type { TaskRooms } from './rooms.ts';
import { start, startedBy, told } from './starting.ts';
import { readTask, type Task, type TaskRequest, writeBody } from './task.ts';
import { quoteVideo } from './video-price.ts';

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
}

export function createVideoTasks(rooms: TaskRooms): VideoTasks {
  async function create({ caller, door, ask: asked, idempotencyKey, strict }: Submission): Promise<Task> {
    const model = modelFor(rooms, caller, asked);
    const fingerprint = idempotencyKey === undefined ? undefined : digestOf(asked);
    const earlier =
      idempotencyKey === undefined ? undefined : await rooms.store.tasks.taskByKey(caller.account, idempotencyKey);
    if (earlier) return sameAs(readTask(earlier), fingerprint);
    const now = rooms.now();
    const targets = await targetsFor(rooms, caller, model, asked, now);
    const task = newTask(rooms, {
      caller,
      door,
      ask: withLength(rooms, asked, model, targets),
      model,
      now,
      fingerprint,
      strict,
    });
    const pace = await rooms.access.admit(caller, task.id, 0, now);
    try {
      await rooms.ledger.hold(holdFor(task, caller));
      return await begin(task, asked, targets, caller, idempotencyKey, fingerprint);
    } finally {
      pace.end(0, rooms.now());
    }
  }

  async function begin(
    task: Task,
    asked: VideoAsk,
    targets: readonly ModelTarget[],
    caller: Caller,
    idempotencyKey: string | undefined,
    fingerprint: string | undefined,
  ): Promise<Task> {
    const request: TaskRequest = { pictures: asked.pictures };
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
      .catch(async (thrown) => {
        await conclude(rooms, task, 0n, 'failed', undefined, 'internal_error');
        throw thrown;
      });
    if (inserted.id !== task.id) {
      await conclude(rooms, task, 0n, 'refused');
      return sameAs(readTask(inserted), fingerprint);
    }
    const held: Held = { task, lost: false };
    try {
      await holding(rooms, held, () =>
        asked.remixOf === undefined ? start(rooms, held, request, targets) : remix(held, caller, asked),
      );
      return held.task;
    } catch (thrown) {
      await refuse(held);
      throw thrown;
    }
  }

  /** The client has been told that there is no task: nothing of it stays but the record of the call. */
  async function refuse(held: Held): Promise<void> {
    await conclude(rooms, held.task, 0n, 'refused');
    await rooms.store.tasks.remove(held.task.id);
  }

  async function remix(held: Held, caller: Caller, asked: VideoAsk): Promise<void> {
    const source = await find(caller, asked.remixOf ?? '');
    const maker = makerOf(rooms, source);
    if (!maker?.video.remix || source.handle === undefined) throw noRemix();
    held.task = { ...held.task, ...(source.target && { target: source.target }), attempts: 1 };
    const { outgoing, warnings } = maker.video.remix(source.handle, asked, maker.target);
    held.task = told(held.task, warnings);
    const answered = await exchange(rooms, maker.provider, outgoing, maker.target);
    await startedBy(rooms, held, maker.video.readStart(answered, asked), maker.video);
  }

  async function find(caller: Caller, id: string): Promise<Task> {
    const row = await rooms.store.tasks.task(id);
    if (row?.account === caller.account) return readTask(row);
    throw new GatewayError('not_found', `There is no video \`${id}\`.`, { param: 'id' });
  }

  return {
    create,
    find,
    async list(caller, page) {
      return (await rooms.store.tasks.tasks(caller.account, page)).map(readTask);
    },
    async remove(caller, id) {
      const task = await find(caller, id);
      if (!isOver(task)) await giveUp(rooms, task);
      for (const { file } of task.outputs) await rooms.files.remove(file);
      await rooms.store.tasks.remove(id);
    },
  };
}

/** Ends a task under way. Nobody else may have it in hand: what the vendor has finished by now is to be paid for. */
async function giveUp(rooms: TaskRooms, task: Task): Promise<void> {
  const now = rooms.now();
  const busy = new GatewayError(
    'conflict',
    'The video is still being made, and its vendor cannot be stopped: remove it once it has ended.',
  );
  if (!(await rooms.store.tasks.take(task.id, rooms.worker, now, now + LEASE_MS))) throw busy;
  const held: Held = { task, lost: false };
  if (!(await cancel(rooms, task))) {
    await rooms.store.tasks.save(task.id, rooms.worker, { body: writeBody(task), dueAt: now, release: true });
    throw busy;
  }
  await fail(rooms, held, { code: 'cancelled', message: 'The video was removed before it was made.' });
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

/** A video made anew is made where the first one was. */
async function targetsFor(
  rooms: TaskRooms,
  caller: Caller,
  model: Model,
  { remixOf, webhook }: VideoAsk,
  now: number,
): Promise<readonly ModelTarget[]> {
  if (webhook !== undefined) rooms.guard.check(webhook);
  if (remixOf === undefined) return rooms.catalog.order(model, rooms.random, now);
  const row = await rooms.store.tasks.task(remixOf);
  if (row?.account !== caller.account)
    throw new GatewayError('not_found', `There is no video \`${remixOf}\`.`, { param: 'id' });
  const maker = makerOf(rooms, readTask(row));
  if (!maker?.video.remix) throw noRemix();
  return [maker.choice];
}

function noRemix(): GatewayError {
  return new GatewayError(
    'invalid_request',
    "This video's model cannot make a video anew: create one with the whole prompt.",
    { param: 'id' },
  );
}

/** The length is always said, so that it is known what is paid for. */
function withLength(rooms: TaskRooms, ask: VideoAsk, model: Model, targets: readonly ModelTarget[]): VideoAsk {
  const lengths = targets.flatMap((choice) => makerAt(rooms, choice)?.video.defaultSeconds ?? []);
  return { ...ask, model: model.name, seconds: ask.seconds ?? Math.max(0, ...lengths) };
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
  }: Pick<Submission, 'caller' | 'door' | 'ask' | 'strict'> & {
    model: Model;
    now: number;
    fingerprint: string | undefined;
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
