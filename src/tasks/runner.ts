/** Runs tasks: claims those that are due and advances each. Any number of processes can run it; each task is leased to one. */

import { isOver } from '../canonical/task.ts';
import { settledWithin } from '../canonical/time.ts';
import { LASTING_OWNER } from '../ledger/ledger.ts';
import type { HoldRow } from '../store/rows.ts';
import type { TaskRow } from '../store/tasks.ts';
import { concludeTask, type Payable } from './finish.ts';
import { type Held, holding, LEASE_MS, save } from './held-task.ts';
import { step } from './step.ts';
import { readTask } from './task.ts';
import type { TaskDeps } from './task-deps.ts';

/** The maximum of tasks in progress in one process, and so of concurrent requests to providers. */
const MOST_UNDER_WAY = 64;
/** The maximum of ended tasks in progress. A separate limit: a webhook that never answers must not delay videos. */
const MOST_ENDED = 64;
/** The delay for an ended task above that limit. */
const CROWDED_MS = 15_000;
const IDLE_MS = 500;
/** The pause before the next claim if more tasks may be due. */
const BUSY_MS = 25;
/** How often leases of dead processes are looked for. */
const INHERIT_MS = 1000;
/** How often holds without a task are looked for. */
const TIDY_MS = 60_000;
/** A younger hold may still get its task. */
const YOUNG_MS = 120_000;

/** The background work of this process on tasks. */
export interface Runner {
  /** Resolves when the tasks in progress have been saved, or after `boundMs`. */
  stop(boundMs: number): Promise<void>;
}

/** Starts at once: takes due tasks of all processes under a lease, at most 64 at a time, polls, downloads, charges and notifies. */
export function startRunner(deps: TaskDeps): Runner {
  const underWay = new Set<Promise<void>>();
  const ended = new Set<Promise<void>>();
  let stopped = false;
  const stopRequested = Promise.withResolvers<void>();
  let inheritedAt = 0;
  let tidiedAt = 0;

  /** Returns whether more tasks may be due. */
  async function turn(): Promise<boolean> {
    const free = MOST_UNDER_WAY - underWay.size;
    if (free <= 0) return true;
    const now = deps.now();
    if (now - inheritedAt >= INHERIT_MS) {
      inheritedAt = now;
      await inherit(deps);
    }
    const rows = await deps.store.tasks.claim(deps.worker, now, now + LEASE_MS, free);
    for (const row of rows) take(row);
    if (now - tidiedAt > TIDY_MS) {
      tidiedAt = now;
      await releaseOrphans(deps, now);
    }
    return rows.length === free;
  }

  function take(row: TaskRow): void {
    // After it was blocked for longer than a lease, a process may claim a task that it is still working on.
    if (deps.inHand.has(row.id)) return;
    const held: Held = { task: readTask(row), lost: false };
    const isCrowded = isOver(held.task) && ended.size >= MOST_ENDED;
    const places = isOver(held.task) ? ended : underWay;
    const work = holding(deps, held, async () => {
      if (isCrowded) await save(deps, held, deps.now() + CROWDED_MS);
      else await step(deps, held);
    })
      .catch((thrown) => deps.reportError(`The task ${row.id} could not be processed.`, thrown))
      .finally(() => places.delete(work));
    places.add(work);
  }

  async function run(): Promise<void> {
    while (!stopped) {
      const more = await turn().catch((thrown) => {
        deps.reportError('The tasks could not be processed.', thrown);
        return false;
      });
      await settledWithin([stopRequested.promise], more ? BUSY_MS : IDLE_MS);
    }
  }

  const running = run();
  return {
    async stop(boundMs) {
      stopped = true;
      stopRequested.resolve();
      await settledWithin([running.then(() => Promise.allSettled([...underWay, ...ended]))], boundMs);
    },
  };
}

/** Leases of processes known to be dead end at once; for unknown ones their duration decides. */
async function inherit({ store, worker, processStatusOf }: TaskDeps): Promise<void> {
  const others = (await store.tasks.workers()).filter((other) => other !== worker);
  const dead = others.filter((other) => processStatusOf(other) === 'gone');
  if (dead.length > 0) await store.tasks.releaseOf(dead);
}

/** A process that died between hold and task left a hold without a task. */
export async function releaseOrphans(deps: TaskDeps, now: number): Promise<void> {
  const open = await deps.store.holds({ owners: [LASTING_OWNER] });
  const old = open.filter(({ at }) => now - at >= YOUNG_MS);
  const known = await deps.store.tasks.known(old.map(({ callId }) => callId));
  for (const hold of old) if (!known.has(hold.callId)) await concludeTask(deps, taskless(hold), 0n, 'interrupted');
}

function taskless({ callId: id, account, key, at: createdAt, priceId, amount: held, model }: HoldRow): Payable {
  return { id, account, key, createdAt, priceId, held, attempts: 0, format: '', ask: { model } };
}
