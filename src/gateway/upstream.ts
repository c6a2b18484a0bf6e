/** What answers a call, wherever it comes from: one vendor, several, or a task. */
import type { Frame } from '../dialects/dialect.ts';

/** An upstream that has begun to answer: its frames, the first of which are already here. */
export interface Upstream {
  /** Client and upstream speak the same dialect: frames pass instead of being written anew. */
  readonly same: boolean;
  /** As it came; of one that is read in pieces there is none. */
  readonly contentType?: string;
  /** The next frames, in order; `undefined` after the last. Throws `upstream_timeout` or `upstream_failed`. */
  next(): Promise<readonly Frame[] | undefined>;
}
