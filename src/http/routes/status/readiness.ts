/** Checks whether the process can take calls: at most once a second, and with a time limit. */
import { notReady, type Readiness } from '../../../store/readiness.ts';

/** How long a result is reused. */
const HOLDS_MS = 1000;
/** Health checkers time out after a few seconds. A database that is silent for this long counts as not ready. */
const PATIENCE_MS = 2000;

export interface ReadinessSettings {
  /** Never throws. */
  ask(): Promise<Readiness>;
  /** Monotonic time in milliseconds. */
  now?: () => number;
  patienceMs?: number;
}

export function createReadiness({
  ask,
  now = () => performance.now(),
  patienceMs = PATIENCE_MS,
}: ReadinessSettings): () => Promise<Readiness> {
  let last: { readiness: Readiness; at: number } | undefined;
  let pending: Promise<Readiness> | undefined;

  async function askAnew(): Promise<Readiness> {
    try {
      const readiness = await ask();
      last = { readiness, at: now() };
      return readiness;
    } finally {
      pending = undefined;
    }
  }

  return async () => {
    if (last && now() - last.at < HOLDS_MS) return last.readiness;
    pending ??= askAnew();
    return await within(pending, patienceMs);
  };
}

async function within(answer: Promise<Readiness>, patienceMs: number): Promise<Readiness> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Readiness>((resolve) => {
    timer = setTimeout(() => resolve(notReady(`The database has not answered for ${patienceMs} ms.`)), patienceMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
