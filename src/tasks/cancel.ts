/** Cancels a task at its provider. */
import type { Outgoing } from '../providers/outgoing.ts';
import { exchange } from './exchange.ts';
import type { Task } from './task.ts';
import type { TaskDeps } from './task-deps.ts';
import { videoTargetOf } from './video-targets.ts';

/** Asks the provider to cancel the task. `false` if the provider does not support it. */
export async function cancel(deps: TaskDeps, task: Task): Promise<boolean> {
  const videoTarget = videoTargetOf(deps, task);
  if (!videoTarget?.video.cancel || task.handle === undefined) return false;
  const outgoing: Outgoing = videoTarget.video.cancel(task.handle, videoTarget.target);
  const { status } = await exchange(deps, videoTarget.provider, outgoing, videoTarget.target);
  return status < 300 || status === 404;
}
