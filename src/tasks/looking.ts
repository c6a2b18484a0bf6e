/** How a task is looked at, and what came of it kept. */
import { asGatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import { advance, type FoundOutput, isOver, type Progress, type TaskError } from '../canonical/task.ts';
import { readComponents } from '../catalog/price-text.ts';
import { download } from './download.ts';
import { fail, settle } from './ending.ts';
import { exchange } from './exchange.ts';
import { type Held, save } from './held-task.ts';
import { later } from './later.ts';
import { type Maker, makerOf, REMOVED } from './makers.ts';
import { nextLook } from './pace.ts';
import type { TaskRooms } from './rooms.ts';
import type { Task } from './task.ts';
import { videoCharge, videoUsage } from './video-price.ts';

const VANISHED: TaskError = { code: 'upstream_failed', message: "The model's vendor knows of no such task any more." };

/** Asks the vendor how far it is. */
export async function look(rooms: TaskRooms, held: Held): Promise<void> {
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
