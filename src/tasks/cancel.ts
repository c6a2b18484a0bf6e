/** Cancels a task at its provider. */
import type { Outgoing } from '../providers/provider.ts';
import { exchange } from './exchange.ts';
import type { Task } from './task.ts';
import type { TaskDeps } from './task-deps.ts';
import { makerOf } from './video-makers.ts';

/** Asks the provider to cancel the task. `false` if the provider does not support it. */
export async function cancel(deps: TaskDeps, task: Task): Promise<boolean> {
  const maker = makerOf(deps, task);
  if (!maker?.video.cancel || task.handle === undefined) return false;
  const outgoing: Outgoing = maker.video.cancel(task.handle, maker.target);
  const { status } = await exchange(deps, maker.provider, outgoing, maker.target);
  return status < 300 || status === 404;
}
