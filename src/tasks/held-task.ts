/** A task leased to this process: the lease is renewed while work runs, and the task is saved as it changes. */
import type { TaskChange } from '../store/tasks.ts';
import { type Task, writeBody } from './task.ts';
import type { TaskDeps } from './task-deps.ts';

/** A task and whether its lease is still ours. */
export interface Held {
  task: Task;
  /** Another process has the lease, so this one must not change the task any more. */
  lost: boolean;
}

/** The duration of a lease. */
export const LEASE_MS = 30_000;

/** Renews the lease while `work` runs: a provider may take longer than a lease. */
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

/**
 * `false` if another process has the lease. Saving ends the lease, unless the task continues in this process at once (or `release` says
 * otherwise).
 */
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
