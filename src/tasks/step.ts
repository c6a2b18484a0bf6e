/** The next step of one task, whatever it has come to. Each ends in a save, so each may be the last of a process. */
import { isOver } from '../canonical/task.ts';
import { settle, tidy } from './ending.ts';
import type { Held } from './held-task.ts';
import { look } from './looking.ts';
import type { TaskRooms } from './rooms.ts';
import { recover } from './starting.ts';

/** Brings a task as far as it comes now, and says when it needs somebody again. Throws only where the store or the files do. */
export async function step(rooms: TaskRooms, held: Held): Promise<void> {
  const { task } = held;
  if (isOver(task)) return tidy(rooms, held);
  if (task.due) return settle(rooms, held);
  if (task.handle === undefined) return recover(rooms, held);
  return look(rooms, held);
}
