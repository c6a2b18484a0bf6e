/** Sends one signed request of a task to its provider and reads the whole response. */
import type { Outgoing, Target } from '../providers/outgoing.ts';
import type { Provider } from '../providers/provider.ts';
import type { ProviderAnswer } from '../providers/video/video.ts';
import { Cancellation } from '../transport/cancellation.ts';
import type { TimeLimits } from '../transport/time-limits.ts';
import type { Sending } from '../transport/transport.ts';
import type { TaskDeps } from './task-deps.ts';

/** Starting may take a provider long: it may read input images first. */
const LIMITS: TimeLimits = {
  connectMs: 10_000,
  headersMs: 60_000,
  firstTokenMs: 30_000,
  silenceMs: 30_000,
  wholeMs: 120_000,
};
/** Some providers return the video inside the response. */
const LARGEST_ANSWER_BYTES = 256 << 20;

/** Throws `upstream_failed` or `upstream_timeout`. */
export async function exchange(
  deps: TaskDeps,
  provider: Provider,
  outgoing: Outgoing,
  target: Target,
): Promise<ProviderAnswer> {
  await provider.authorize(outgoing, target, deps.signing);
  return send(deps, outgoing);
}

/** The same for a request that is already signed. */
export async function send(deps: TaskDeps, outgoing: Sending): Promise<ProviderAnswer> {
  const answer = await deps.transport.send(outgoing, LIMITS, performance.now() + LIMITS.wholeMs, new Cancellation());
  return { status: answer.status, headers: answer.headers, body: await answer.readAll(LARGEST_ANSWER_BYTES) };
}
