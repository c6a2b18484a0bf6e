/** What comes before a measurement: warm compilers, and a gateway that has ended what it was asked before. */
import { CHUNK_EVERY_MS, closedLoad, heldStreams } from './loads.ts';
import { treeUse } from './processes.ts';
import { type LoadSession, type Target, untilAnswers } from './running.ts';

/** After as much, the compilers rest: for about 20,000 requests they use as much processor time as the requests, and some until 50,000. */
export interface WarmUp {
  requests: number;
  chunks: number;
  /** The requests end after this time in any case. */
  boundSeconds: number;
}

const WARM_UP_STREAMS = 120;

export async function warmUp(
  session: LoadSession,
  target: Target,
  { requests, chunks, boundSeconds }: WarmUp,
): Promise<void> {
  const until = performance.now() + boundSeconds * 1000;
  for (let done = 0; done < requests && performance.now() < until; ) {
    done += (await session.run(closedLoad(target, 1))).answers;
  }
  const seconds = ((chunks / WARM_UP_STREAMS) * CHUNK_EVERY_MS) / 1000;
  await session.run(heldStreams(target, WARM_UP_STREAMS, CHUNK_EVERY_MS, seconds));
}

/** Of a core, over a second: less is no leftover of the load before. */
const QUIET_SHARE = 0.1;
const QUIET_BOUND_MS = 60_000;

/** What a slow gateway still does for clients that have gone is not a cost of the next measurement. */
export async function untilQuiet(target: Target): Promise<void> {
  await untilAnswers(target);
  for (const until = performance.now() + QUIET_BOUND_MS; performance.now() < until; ) {
    const [before, at] = [treeUse(target.pid).cpuMicroseconds, performance.now()];
    await Bun.sleep(1000);
    if (treeUse(target.pid).cpuMicroseconds - before < QUIET_SHARE * (performance.now() - at) * 1000) return;
  }
}
