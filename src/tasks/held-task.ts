/** A task in this process's hands: kept there for as long as the work takes, saved as it changes. */
import type { TaskChange } from '../store/tasks.ts';
import { type Task, writeBody } from './task.ts';
import type { TaskDeps } from './task-deps.ts';

export interface Held {
  task: Task;
  /** The lease is another's: whatever was done here is that one's matter now. */
  lost: boolean;
}

/** How long a task stays in one process's hands without a sign of life. */
export const LEASE_MS = 30_000;

/** Providers may be slower than a lease: it is renewed while `work` lasts. */
export async function holding<T>(deps: TaskDeps, held: Held, work: () => Promise<T>): Promise<T> {
  const { id } = held.task;
  const lease = setInterval(() => void renew(deps, held), LEASE_MS / 3);
  deps.inHand.add(id);
  try {
    return await work();
  } finally {
    deps.inHand.delete(id);
    clearInterval(lease);
  }
}

async function renew(deps: TaskDeps, held: Held): Promise<void> {
  const kept = await deps.store.tasks.extend(held.task.id, deps.worker, deps.now() + LEASE_MS).catch(() => true);
  if (!kept) held.lost = true;
}

type HowToSave = Pick<TaskChange, 'dropRequest' | 'release'>;

/** `false`: it is another's by now. The lease ends with it, unless the task goes on in this process at once (or `release` says otherwise). */
export async function save(
  deps: TaskDeps,
  held: Held,
  dueAt: number | undefined,
  { dropRequest = false, release = dueAt === undefined || dueAt > deps.now() }: Partial<HowToSave> = {},
): Promise<boolean> {
  if (held.lost) return false;
  const kept = await deps.store.tasks.save(held.task.id, deps.worker, {
    body: writeBody(held.task),
    dueAt,
    release,
    dropRequest,
  });
  if (!kept) held.lost = true;
  return kept;
}
