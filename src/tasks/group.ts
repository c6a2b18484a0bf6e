/**
 * Several videos in one order for a provider that generates one at a time: each video is a task with its own hold, start and settlement.
 * The client knows the first; the others are its siblings, which cannot be read by their ids.
 */
import { newId } from '../canonical/id.ts';
import { isOver, type TaskState } from '../canonical/task.ts';
import type { ModelTarget } from '../catalog/catalog.ts';
import { readTask, type Task } from './task.ts';
import type { TaskDeps } from './task-deps.ts';
import { videoTargetAt } from './video-targets.ts';

/** The id prefix of siblings, by which lists leave them out. */
export const SIBLING = 'part_';

/** How many tasks an order of `n` videos needs at these targets. */
export function tasksFor(deps: TaskDeps, n: number, targets: readonly ModelTarget[]): number {
  if (n === 1) return 1;
  const most = targets.map((choice) => videoTargetAt(deps, choice)?.video.mostVideos ?? 1);
  return Math.min(...most) >= n ? 1 : n;
}

/** The tasks of an order, the client's own first. Seeds differ, because equal seeds give equal videos. */
export function groupFor(task: Task, count: number): [Task, ...Task[]] {
  if (count === 1) return [task];
  const ids = Array.from({ length: count - 1 }, () => newId(SIBLING, 32));
  const { webhook: _, fingerprint: __, ...plain } = task;
  const { seed } = task.ask;
  const siblings = ids.map((id, place) => ({
    ...plain,
    id,
    ask: { ...task.ask, ...(seed !== undefined && { seed: seed < 0 ? seed : seed + place + 1 }) },
  }));
  return [{ ...task, siblings: ids }, ...siblings];
}

/** The existing siblings. One that was not stored before a crash was never ordered. */
export async function siblingsOf(deps: TaskDeps, { siblings = [] }: Task): Promise<Task[]> {
  const rows = await Promise.all(siblings.map((id) => deps.store.tasks.task(id)));
  return rows.flatMap((row) => (row ? [readTask(row)] : []));
}

/** The order as the client sees it: ended when all have ended, completed if at least one is. */
export function mergedTask(first: Task, siblings: readonly Task[]): Task {
  if (siblings.length === 0) return first;
  const all = [first, ...siblings];
  const completed = all.filter(({ state }) => state === 'completed');
  const state = stateOf(all, completed.length > 0);
  const { error: _, ...plain } = first;
  const chosen = state === 'failed' ? first : plain;
  return {
    ...chosen,
    state,
    percent: Math.floor(all.reduce((sum, one) => sum + (isOver(one) ? 100 : one.percent), 0) / all.length),
    outputs: completed.filter(({ emptied }) => !emptied).flatMap(({ outputs }) => outputs),
    ...(completed.length > 0 && completed.every(({ emptied }) => emptied) && { emptied: true as const }),
    ...ends(all, state),
  };
}

function stateOf(all: readonly Task[], isAnyThere: boolean): TaskState {
  if (all.every(isOver)) return isAnyThere ? 'completed' : 'failed';
  return all.every(({ state }) => state === 'queued') ? 'queued' : 'in_progress';
}

function ends(all: readonly Task[], state: TaskState): Pick<Task, 'endedAt' | 'expiresAt'> {
  if (state !== 'completed' && state !== 'failed') return { endedAt: undefined, expiresAt: undefined } as object;
  const endedAt = Math.max(...all.map((one) => one.endedAt ?? 0));
  const expiries = all.flatMap((one) => one.expiresAt ?? []);
  return { endedAt, ...(expiries.length > 0 && { expiresAt: Math.min(...expiries) }) };
}
