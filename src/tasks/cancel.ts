/** Gives a task up at its provider. */
import type { Outgoing } from '../providers/provider.ts';
import { exchange } from './exchange.ts';
import type { Task } from './task.ts';
import type { TaskDeps } from './task-deps.ts';
import { makerOf } from './video-makers.ts';

/** Tells the provider that a task is not wanted any more. `false`: it cannot be told. */
export async function cancel(deps: TaskDeps, task: Task): Promise<boolean> {
  const maker = makerOf(deps, task);
  if (!maker?.video.cancel || task.handle === undefined) return false;
  const outgoing: Outgoing = maker.video.cancel(task.handle, maker.target);
  const { status } = await exchange(deps, maker.provider, outgoing, maker.target);
  return status < 300 || status === 404;
}
