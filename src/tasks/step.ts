/** The next step of a task in any state. Each step ends with a save, so the process may die after it. */
import { isOver } from '../canonical/task.ts';
import { settle, tidy } from './finish.ts';
import type { Held } from './held-task.ts';
import { look } from './poll.ts';
import { recover } from './start.ts';
import type { TaskDeps } from './task-deps.ts';
import { isConfigured } from './video-targets.ts';

/** Advances a task as far as possible now, and sets when it is due again. Throws only if the store or the file store does. */
export async function step(deps: TaskDeps, held: Held): Promise<void> {
  const { task } = held;
  if (isOver(task)) return tidy(deps, held);
  if (task.due) return settle(deps, held);
  // Another process may have configured the model a moment ago.
  if (!isConfigured(deps, task)) await deps.catalog.reload();
  if (task.handle === undefined) return recover(deps, held);
  return look(deps, held);
}
