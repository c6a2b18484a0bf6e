/** Asks at most once a second whether a call could be taken, however often that is wanted to be known, and waits for no answer for long. */
import { notReady, type Readiness } from '../../../store/readiness.ts';

/** How long an answer holds. */
const HOLDS_MS = 1000;
/** Whoever asks `/ready` gives up after some seconds: a database that is silent for so long takes no calls. */
const PATIENCE_MS = 2000;

export interface ReadinessSettings {
  /** Never throws. */
  ask(): Promise<Readiness>;
  /** A clock that nobody sets. */
  now?: () => number;
  patienceMs?: number;
}

export function createReadiness({
  ask,
  now = () => performance.now(),
  patienceMs = PATIENCE_MS,
}: ReadinessSettings): () => Promise<Readiness> {
  let last: { readiness: Readiness; at: number } | undefined;
  let asking: Promise<Readiness> | undefined;

  async function askAnew(): Promise<Readiness> {
    try {
      const readiness = await ask();
      last = { readiness, at: now() };
      return readiness;
    } finally {
      asking = undefined;
    }
  }

  return async () => {
    if (last && now() - last.at < HOLDS_MS) return last.readiness;
    asking ??= askAnew();
    return await within(asking, patienceMs);
  };
}

async function within(asked: Promise<Readiness>, patienceMs: number): Promise<Readiness> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Readiness>((resolve) => {
    timer = setTimeout(() => resolve(notReady(`The database has not answered for ${patienceMs} ms.`)), patienceMs);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}
