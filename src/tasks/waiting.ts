/** A task that waits: for its next look, for as long as it may take. */
import type { GatewayError } from '../canonical/errors.ts';
import type { TaskError } from '../canonical/task.ts';
import { fail } from './finish.ts';
import { type Held, save } from './held-task.ts';
import { afterFailure } from './pace.ts';
import type { TaskDeps } from './task-deps.ts';

/** Until `dueAt`, or until its time is over. */
export async function wait(deps: TaskDeps, held: Held, dueAt: number): Promise<void> {
  const { deadlineAt } = held.task;
  if (deps.now() >= deadlineAt) return fail(deps, held, EXPIRED);
  await save(deps, held, Math.min(dueAt, deadlineAt));
}

/** A provider that says when to come again is believed that far. */
const LONGEST_ASKED_MS = 3_600_000;

/** What failed is tried again, ever less often, and no sooner than the provider asks. */
export async function later(deps: TaskDeps, held: Held, error: GatewayError): Promise<void> {
  const failures = held.task.failures + 1;
  held.task = { ...held.task, failures };
  if (failures === 1 || error.code === 'internal_error')
    deps.reportError(`A step of the task ${held.task.id} failed.`, error);
  const askedMs = Math.min(LONGEST_ASKED_MS, 1000 * (error.retryAfterSeconds ?? 0));
  await wait(deps, held, deps.now() + Math.max(askedMs, afterFailure(failures, deps.random())));
}

const EXPIRED: TaskError = {
  code: 'task_expired',
  message: 'The video was not made within the time that a task may take.',
};
