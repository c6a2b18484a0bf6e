/**
 * Holds whose commit was not confirmed: the answer was lost, or the statement is still on its way. Their calls were refused and nothing was
 * sent, so they cost nothing. But they may be committed later, and another process may settle them as if their calls had run.
 */
import type { HoldRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';

/** `doubt` adds a hold. `landed` finds those that were committed after all; the caller releases them and calls `forget`. */
export interface StrayHolds {
  doubt(hold: HoldRow): void;
  /** Those that are committed by now. `owners`: the owner names of this process, the current one last. */
  landed(owners: readonly string[], isOpen: (callId: string) => boolean): Promise<HoldRow[]>;
  /** Removes resolved holds from the list. */
  forget(holds: readonly HoldRow[]): void;
}

/** A statement is committed within its own time limit, or when a broken connection delivers what it had buffered. */
const LANDS_WITHIN_MS = 300_000;
/** How many holds that another process may have settled are looked up at a time. */
const LOOKS = 32;
/** During an outage every call is in doubt. Those that ran when it started come first, and they may be committed. */
const MOST_DOUBTED = 10_000;

/** Holds are looked for during five minutes, by `monotonic` in milliseconds, and at most 10,000 are kept. */
export function createStrayHolds(store: Pick<Store, 'holds' | 'call'>, monotonic: () => number): StrayHolds {
  const doubted = new Map<string, { hold: HoldRow; sinceMs: number }>();

  /** Holds that another process has settled: it can only have ended an earlier lease of this process. */
  async function settledByOthers(present: string | undefined): Promise<HoldRow[]> {
    const settled: HoldRow[] = [];
    const former = [...doubted.values()].filter(({ hold }) => hold.owner !== present).slice(0, LOOKS);
    for (const doubt of former) {
      const { hold } = doubt;
      const call = await store.call(hold.callId);
      doubted.delete(hold.callId);
      if (call?.provisional) settled.push(hold);
      // Moves it to the end of those still to be looked up.
      if (!call || call.provisional) doubted.set(hold.callId, doubt);
    }
    return settled;
  }

  return {
    doubt(hold) {
      if (doubted.size < MOST_DOUBTED) doubted.set(hold.callId, { hold, sinceMs: monotonic() });
    },
    async landed(owners, isOpen) {
      for (const [id, { sinceMs }] of doubted) if (monotonic() - sinceMs > LANDS_WITHIN_MS) doubted.delete(id);
      if (doubted.size === 0) return [];
      const own = (await store.holds({ owners })).filter(({ callId }) => !isOpen(callId));
      return [...own, ...(await settledByOthers(owners.at(-1)))];
    },
    forget(holds) {
      for (const { callId } of holds) doubted.delete(callId);
    },
  };
}
