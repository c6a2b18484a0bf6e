/** Looks after the tasks: claims what is due, takes each as far as it comes; any number of processes, each task in one's hands. */
import { isOver } from '../canonical/task.ts';
import { LASTING_OWNER } from '../ledger/ledger.ts';
import type { TaskRooms } from './rooms.ts';
import { conclude, holding, LEASE_MS, type Payable, step } from './steps.ts';
import { readTask } from './task.ts';

/** Tasks in one process's hands at once: their requests to vendors are as many at most. */
const MOST_AT_ONCE = 32;
const IDLE_MS = 500;
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
  let tidiedAt = 0;

  async function turn(): Promise<void> {
    const free = MOST_AT_ONCE - inHand.size;
    if (free <= 0) return;
    const now = rooms.now();
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
      const bound = Promise.withResolvers<void>();
      // A timer left over would keep the process alive.
      const timer = setTimeout(bound.resolve, boundMs);
      await Promise.race([running.then(() => Promise.allSettled([...inHand])), bound.promise]);
      clearTimeout(timer);
    },
  };
}

/** A process that died between hold and task, or between the end of a task and its settlement, left a hold that nobody ends. */
async function releaseOrphans(rooms: TaskRooms, now: number): Promise<void> {
  for (const hold of await rooms.store.holds({ owners: [LASTING_OWNER] })) {
    if (now - hold.at < YOUNG_MS) continue;
    const row = await rooms.store.tasks.task(hold.callId);
    const task = row && readTask(row);
    if (task && !isOver(task)) continue;
    const ended: Payable = task ?? {
      id: hold.callId,
      account: hold.account,
      key: hold.key,
      createdAt: hold.at,
      priceId: hold.priceId,
      held: hold.amount,
      attempts: 0,
      door: '',
      ask: { model: hold.model },
    };
    await conclude(rooms, ended, 0n, 'interrupted');
  }
}
