/** Looks after the tasks: claims what is due, takes each as far as it comes; any number of processes, each task in one's hands. */
import { isOver } from '../canonical/task.ts';
import { LASTING_OWNER } from '../ledger/ledger.ts';
import type { HoldRow } from '../store/store.ts';
import { conclude, type Payable } from './ending.ts';
import { holding, LEASE_MS } from './held-task.ts';
import type { TaskRooms } from './rooms.ts';
import { settledWithin } from './settled-within.ts';
import { step } from './step.ts';
import { readTask } from './task.ts';

/** Tasks in one process's hands at once: their requests to vendors are as many at most. */
const MOST_AT_ONCE = 32;
const IDLE_MS = 500;
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

export function startRunner(rooms: TaskRooms): Runner {
  const inHand = new Set<Promise<void>>();
  let stopped = false;
  let inheritedAt = 0;
  let tidiedAt = 0;

  async function turn(): Promise<void> {
    const free = MOST_AT_ONCE - inHand.size;
    if (free <= 0) return;
    const now = rooms.now();
    if (now - inheritedAt >= INHERIT_MS) {
      inheritedAt = now;
      await inherit(rooms);
    }
    const rows = await rooms.store.tasks.claim(rooms.worker, now, now + LEASE_MS, free);
    for (const row of rows) {
      const held = { task: readTask(row), lost: false };
      const work = holding(rooms, held, () => step(rooms, held))
        .catch((thrown) => rooms.trouble(`The task ${row.id} could not be looked after.`, thrown))
        .finally(() => inHand.delete(work));
      inHand.add(work);
    }
    if (now - tidiedAt > TIDY_MS) {
      tidiedAt = now;
      await releaseOrphans(rooms, now);
    }
  }

  async function run(): Promise<void> {
    while (!stopped) {
      try {
        await turn();
      } catch (thrown) {
        rooms.trouble('The tasks could not be looked after.', thrown);
      }
      await Bun.sleep(IDLE_MS);
    }
  }

  const running = run();
  return {
    async stop(boundMs) {
      stopped = true;
      await settledWithin([running.then(() => Promise.allSettled(inHand))], boundMs);
    },
  };
}

/** What a dead process had in hand is anybody's at once; of those that nobody here can tell about, the lease tells. */
async function inherit({ store, worker, fateOf }: TaskRooms): Promise<void> {
  const others = (await store.tasks.workers()).filter((other) => other !== worker);
  const dead = others.filter((other) => fateOf(other) === 'gone');
  if (dead.length > 0) await store.tasks.releaseOf(dead);
}

/** A process that died between hold and task, or between the failure of a task and its release, left a hold that nobody ends. */
export async function releaseOrphans(rooms: TaskRooms, now: number): Promise<void> {
  for (const hold of await rooms.store.holds({ owners: [LASTING_OWNER] })) {
    const row = await rooms.store.tasks.task(hold.callId);
    const task = row && readTask(row);
    if (task && isOver(task)) await conclude(rooms, task, 0n, 'failed', undefined, task.error?.code);
    else if (!task && now - hold.at >= YOUNG_MS) await conclude(rooms, taskless(hold), 0n, 'interrupted');
  }
}

function taskless({ callId: id, account, key, at: createdAt, priceId, amount: held, model }: HoldRow): Payable {
  return { id, account, key, createdAt, priceId, held, attempts: 0, door: '', ask: { model } };
}
