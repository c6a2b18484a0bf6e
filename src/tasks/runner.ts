/** Looks after the tasks: claims what is due, takes each as far as it comes; any number of processes, each task in one's hands. */
import { isOver } from '../canonical/task.ts';
import { LASTING_OWNER } from '../ledger/ledger.ts';
import type { HoldRow } from '../store/store.ts';
import type { TaskRow } from '../store/tasks.ts';
import { conclude, type Payable } from './finish.ts';
import { type Held, holding, LEASE_MS, save } from './held-task.ts';
import { settledWithin } from './settled-within.ts';
import { step } from './step.ts';
import { readTask } from './task.ts';
import type { TaskDeps } from './task-deps.ts';

/** Tasks under way in one process's hands at once: their requests to providers are as many at most. */
const MOST_UNDER_WAY = 64;
/** Ended ones in its hands at once. They have places of their own: a webhook that never answers holds up nobody's video. */
const MOST_ENDED = 64;
/** How long an ended one waits that found no place. */
const CROWDED_MS = 15_000;
const IDLE_MS = 500;
/** Between two turns where more may be due. */
const BUSY_MS = 25;
/** How often it is asked whether somebody who has tasks in hand is dead. */
const INHERIT_MS = 1000;
/** How often holds without a task are looked for. */
const TIDY_MS = 60_000;
/** A hold this young may have its task yet to come. */
const YOUNG_MS = 120_000;

export interface Runner {
  /** Ends when what is in hand has been brought to its next save, or after `boundMs`. */
  stop(boundMs: number): Promise<void>;
}

export function startRunner(deps: TaskDeps): Runner {
  const underWay = new Set<Promise<void>>();
  const ended = new Set<Promise<void>>();
  let stopped = false;
  let inheritedAt = 0;
  let tidiedAt = 0;

  /** Whether more may be due. */
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
    // A process that was held up for longer than a lease claims what it has in hand.
    if (deps.inHand.has(row.id)) return;
    const held: Held = { task: readTask(row), lost: false };
    const isCrowded = isOver(held.task) && ended.size >= MOST_ENDED;
    const places = isOver(held.task) ? ended : underWay;
    const work = holding(deps, held, async () => {
      if (isCrowded) await save(deps, held, deps.now() + CROWDED_MS);
      else await step(deps, held);
    })
      .catch((thrown) => deps.reportError(`The task ${row.id} could not be looked after.`, thrown))
      .finally(() => places.delete(work));
    places.add(work);
  }

  async function run(): Promise<void> {
    while (!stopped) {
      const more = await turn().catch((thrown) => {
        deps.reportError('The tasks could not be looked after.', thrown);
        return false;
      });
      await Bun.sleep(more ? BUSY_MS : IDLE_MS);
    }
  }

  const running = run();
  return {
    async stop(boundMs) {
      stopped = true;
      await settledWithin([running.then(() => Promise.allSettled([...underWay, ...ended]))], boundMs);
    },
  };
}

/** What a dead process had in hand is anybody's at once; of those that nobody here can tell about, the lease tells. */
async function inherit({ store, worker, processStatusOf }: TaskDeps): Promise<void> {
  const others = (await store.tasks.workers()).filter((other) => other !== worker);
  const dead = others.filter((other) => processStatusOf(other) === 'gone');
  if (dead.length > 0) await store.tasks.releaseOf(dead);
}

/** A process that died between hold and task left a hold that nobody ends. */
export async function releaseOrphans(deps: TaskDeps, now: number): Promise<void> {
  const open = await deps.store.holds({ owners: [LASTING_OWNER] });
  const old = open.filter(({ at }) => now - at >= YOUNG_MS);
  const known = await deps.store.tasks.known(old.map(({ callId }) => callId));
  for (const hold of old) if (!known.has(hold.callId)) await conclude(deps, taskless(hold), 0n, 'interrupted');
}

function taskless({ callId: id, account, key, at: createdAt, priceId, amount: held, model }: HoldRow): Payable {
  return { id, account, key, createdAt, priceId, held, attempts: 0, door: '', ask: { model } };
}
