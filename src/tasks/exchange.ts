/** One request of a task to its vendor, signed, answered whole. */
import type { Outgoing, Provider, Target } from '../providers/provider.ts';
import type { Answered } from '../providers/video.ts';
import { Cancellation, type Sending, type TimeLimits } from '../transport/transport.ts';
import type { TaskRooms } from './rooms.ts';

/** Starting may take a vendor long: it reads the pictures first. */
const LIMITS: TimeLimits = {
  connectMs: 10_000,
  headersMs: 60_000,
  firstTokenMs: 30_000,
  silenceMs: 30_000,
  wholeMs: 120_000,
};
/** Some vendors hand the video over inside the answer. */
const LARGEST_ANSWER_BYTES = 256 << 20;

/** Throws `upstream_failed` or `upstream_timeout`. */
export async function exchange(
  rooms: TaskRooms,
  provider: Provider,
  outgoing: Outgoing,
  target: Target,
): Promise<Answered> {
  await provider.authorize(outgoing, target, rooms.signing);
  return send(rooms, outgoing);
}

/** The same with what has been signed already. */
export async function send(rooms: TaskRooms, outgoing: Sending): Promise<Answered> {
  const answer = await rooms.transport.send(outgoing, LIMITS, performance.now() + LIMITS.wholeMs, new Cancellation());
  return { status: answer.status, headers: answer.headers, body: await answer.readAll(LARGEST_ANSWER_BYTES) };
}
