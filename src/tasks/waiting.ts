/** Delays a task until its next poll, up to its deadline. */
import type { GatewayError } from '../canonical/errors.ts';
import type { TaskError } from '../canonical/task.ts';
import { fail } from './finish.ts';
import { type Held, save } from './held-task.ts';
import { afterFailure } from './pace.ts';
import type { TaskDeps } from './task-deps.ts';

/** Until `dueAt` or the deadline, whichever is first. */
export async function wait(deps: TaskDeps, held: Held, dueAt: number): Promise<void> {
  const { deadlineAt } = held.task;
  if (deps.now() >= deadlineAt) return fail(deps, held, EXPIRED);
  await save(deps, held, Math.min(dueAt, deadlineAt));
}

/** The maximum retry-after time accepted from a provider. */
const LONGEST_ASKED_MS = 3_600_000;

/** Retries a failed step after a growing delay, and not before the provider's retry-after time. */
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
  message: 'The video was not generated within the maximum time of a task.',
};
