/**
 * Holds whose commit nobody saw: the answer was lost, or the statement is still on its way. Their calls were refused and nothing was sent
 * for them, so they cost nothing; but they may land, and another process may settle them in the belief that their calls were under way.
 */
import type { HoldRow, Store } from '../store/store.ts';

export interface StrayHolds {
  doubt(hold: HoldRow): void;
  /** Those that have landed by now; `owners`: the names under which this process may have holds, the present one last. */
  landed(owners: readonly string[], isOpen: (callId: string) => boolean): Promise<HoldRow[]>;
  /** They have been resolved. */
  forget(holds: readonly HoldRow[]): void;
}

/** A statement lands within its own time limit, or with what a cut connection has kept back. */
const LANDS_WITHIN_MS = 300_000;
/** Of those that another process may have settled so many are looked up at a time. */
const LOOKS = 32;
/** During an outage every call is in doubt; those under way when it began come first, and they are the ones that may have landed. */
const MOST_DOUBTED = 10_000;

export function createStrayHolds(store: Pick<Store, 'holds' | 'call'>, monotonic: () => number): StrayHolds {
  const doubted = new Map<string, { hold: HoldRow; sinceMs: number }>();

  /** Those that are on record as settled by another process: it can only have ended a lease of before. */
  async function settledByOthers(present: string | undefined): Promise<HoldRow[]> {
    const settled: HoldRow[] = [];
    const former = [...doubted.values()].filter(({ hold }) => hold.owner !== present).slice(0, LOOKS);
    for (const doubt of former) {
      const { hold } = doubt;
      const call = await store.call(hold.callId);
      doubted.delete(hold.callId);
      if (call?.provisional) settled.push(hold);
      // At the end of those that are still to be looked up.
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
