/** A task that has to wait since something failed. */
import type { GatewayError } from '../canonical/errors.ts';
import { type Held, save } from './held-task.ts';
import { afterFailure } from './pace.ts';
import type { TaskRooms } from './rooms.ts';

export async function later(rooms: TaskRooms, held: Held, error: GatewayError): Promise<void> {
  const failures = held.task.failures + 1;
  held.task = { ...held.task, failures };
  if (failures === 1 || error.code === 'internal_error')
    rooms.trouble(`A look at the task ${held.task.id} failed.`, error);
  await save(rooms, held, rooms.now() + afterFailure(failures, rooms.random()));
}
