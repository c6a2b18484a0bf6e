/** Collects garbage when a process has become idle after much work. */

/** How often it looks. */
export const IDLE_LOOK_MS = 1000;
/** Less processor time than this since the last look: the process is idle. */
const IDLE_MS = 200;
/** A collection takes some 25 ms: at most a hundredth of what was worked. */
const WORTH_MS = 2500;

export interface IdleCollectionDeps {
  /** How many calls are open. A collection would delay them. */
  active(): number;
  /** The processor time of this process so far, in milliseconds. */
  processorMs(): number;
  collect(): void;
}

/**
 * Returns what is called every `IDLE_LOOK_MS`. Under load garbage lies until the collector needs its place, and in an idle process it lies
 * on: up to 45 MB, which the next calls or streams come on top of.
 */
export function createIdleCollection({ active, processorMs, collect }: IdleCollectionDeps): () => void {
  let collectedAt = 0;
  let lookedAt = 0;
  return () => {
    const now = processorMs();
    const isIdle = active() === 0 && now - lookedAt < IDLE_MS;
    lookedAt = now;
    if (!isIdle || now - collectedAt < WORTH_MS) return;
    collect();
    lookedAt = collectedAt = processorMs();
  };
}
