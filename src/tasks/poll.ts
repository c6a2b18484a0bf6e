/** Polls a task at its provider and stores the result. */
import { asGatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import { advance, isOver, type TaskError, type TaskProgress } from '../canonical/task.ts';
import { readComponents } from '../catalog/price-text.ts';
import { boundedProgress } from './bounded-answers.ts';
import { download } from './download.ts';
import { exchange } from './exchange.ts';
import { fail, settle } from './finish.ts';
import { type Held, save } from './held-task.ts';
import { nextLook } from './pace.ts';
import type { Task } from './task.ts';
import type { TaskDeps } from './task-deps.ts';
import { dueFor } from './video-price.ts';
import { REMOVED, type VideoTarget, videoTargetOf } from './video-targets.ts';
import { later, wait } from './waiting.ts';

const VANISHED: TaskError = { code: 'upstream_failed', message: 'The provider does not know this task any more.' };
const WITHHELD: TaskError = {
  code: 'upstream_failed',
  message: 'The provider generated the video and did not deliver it.',
};
const OUT_OF_REACH: TaskError = {
  code: 'upstream_failed',
  message: 'The finished video could not be fetched from its provider.',
};

/** With the delays between them, these attempts take more than an hour. */
const MOST_FETCHES = 20;

/** Polls the provider for progress. At the deadline it polls a last time: a finished result is kept. */
export async function look(deps: TaskDeps, held: Held): Promise<void> {
  const videoTarget = videoTargetOf(deps, held.task);
  if (!videoTarget) return fail(deps, held, REMOVED);
  const { provider, video, target } = videoTarget;
  const handle = held.task.handle ?? null;
  let seen: TaskProgress;
  try {
    const answered = await exchange(deps, provider, video.poll(handle, target), target);
    if (answered.status === 410) return fail(deps, held, VANISHED);
    seen = boundedProgress(video.readPoll(answered, handle, target));
  } catch (thrown) {
    const error = asGatewayError(thrown);
    // One 404 is not enough: a new task may not be visible on all of the provider's servers yet.
    if (error.status === 404 && held.task.failures > 0) return fail(deps, held, VANISHED);
    // Temporary failures, or a refused credential, do not fail the task: it has its own deadline.
    return later(deps, held, error);
  }
  const { task } = held;
  held.task = { ...advance(task, seen, deps.now()), looks: task.looks + 1 };
  if (seen.handle !== undefined) held.task.handle = seen.handle;
  if (isOver(held.task)) return fail(deps, held, held.task.error ?? VANISHED);
  if (seen.state === 'completed') return keep(deps, held, seen, videoTarget);
  held.task.failures = 0;
  await wait(
    deps,
    held,
    deps.now() + nextLook(held.task.looks, deps.settings.pollMs || video.firstLookMs, deps.random()),
  );
}

/** Stores the results and charges them. What cannot be downloaded is tried again with a new URL. */
async function keep(deps: TaskDeps, held: Held, seen: TaskProgress, { provider, target }: VideoTarget): Promise<void> {
  const found = seen.found ?? [];
  if (found.length === 0) return fail(deps, held, WITHHELD);
  // File names are saved before the download: if the process dies, the one that takes over removes incomplete files.
  const files = found.map((_, place) => held.task.files?.[place] ?? newId('file_', 32));
  const fetches = (held.task.fetches ?? 0) + 1;
  held.task = { ...held.task, files, fetches };
  if (!(await save(deps, held, deps.now()))) return;
  const outputs: Task['outputs'] = [];
  try {
    for (const [place, file] of files.entries()) {
      const one = found[place];
      if (one) outputs.push({ file, ...(await download(deps, provider, target, file, one)) });
    }
  } catch (thrown) {
    const error = asGatewayError(thrown);
    if (error.code === 'upstream_failed' && !error.retryable)
      return fail(deps, held, { code: error.code, message: error.message });
    return fetches < MOST_FETCHES ? later(deps, held, error) : fail(deps, held, OUT_OF_REACH);
  }
  const { task } = held;
  // The price version of the order.
  const price = await deps.store.price(task.priceId);
  const components = price && readComponents(price.components);
  held.task = { ...task, outputs, due: dueFor(task.ask, outputs.length, seen.billed, components, task.held) };
  if (await save(deps, held, deps.now())) await settle(deps, held);
}
