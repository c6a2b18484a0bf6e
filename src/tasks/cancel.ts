/** Gives a task up at its vendor. */
import type { Outgoing } from '../providers/provider.ts';
import { exchange } from './exchange.ts';
import { makerOf } from './makers.ts';
import type { TaskRooms } from './rooms.ts';
import type { Task } from './task.ts';

/** Tells the vendor that a task is not wanted any more. `false`: it cannot be told. */
export async function cancel(rooms: TaskRooms, task: Task): Promise<boolean> {
  const maker = makerOf(rooms, task);
  if (!maker?.video.cancel || task.handle === undefined) return false;
  const outgoing: Outgoing = maker.video.cancel(task.handle, maker.target);
  const { status } = await exchange(rooms, maker.provider, outgoing, maker.target);
  return status < 300 || status === 404;
}
