/** The next step of one task, whatever it has come to. Each ends in a save, so each may be the last of a process. */
import { isOver } from '../canonical/task.ts';
import { settle, tidy } from './finish.ts';
import type { Held } from './held-task.ts';
import { look } from './poll.ts';
import { recover } from './start.ts';
import type { TaskDeps } from './task-deps.ts';

/** Brings a task as far as it comes now, and says when it needs somebody again. Throws only where the store or the files do. */
export async function step(deps: TaskDeps, held: Held): Promise<void> {
  const { task } = held;
  if (isOver(task)) return tidy(deps, held);
  if (task.due) return settle(deps, held);
  if (task.handle === undefined) return recover(deps, held);
  return look(deps, held);
}
