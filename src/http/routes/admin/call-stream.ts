/**
 * The calls that match a filter as server-sent events, while they end. Those of this process come from its events, those of others from the
 * database.
 */
import type { CallFilter, CallRow } from '../../../store/rows.ts';
import type { Store } from '../../../store/store.ts';
import type { LiveCalls } from '../../../telemetry/live-calls.ts';

export interface CallStream {
  /** The person or the key that reads. */
  who: string;
  live: LiveCalls;
  store: Pick<Store, 'callPage'>;
  filter: Omit<CallFilter, 'limit' | 'after'>;
  write(call: CallRow): Promise<object>;
  /** Whether the session or key may still read calls. */
  mayGoOn(): Promise<boolean>;
  now(): number;
  reportError(sentence: string, cause: unknown): void;
  /** How often the database is queried, and the right to read is checked. */
  tickMs?: number;
  heartbeatMs?: number;
  /** Events that wait for the reader. */
  most?: number;
}

const TICK_MS = 1000;
const HEARTBEAT_MS = 15_000;
const MOST_WAITING = 200;
/** What one look at the database reads. Calls are found by their beginning, so a call that ended later than so many others is missed. */
const MOST_READ = 200;
const LONGEST_CALL_MS = 900_000;
const MOST_KNOWN = 2000;

type End = 'signed-out' | 'slow-reader' | 'stopping' | 'failed';

/** `undefined`: too many streams. */
export function streamCalls(stream: CallStream): ReadableStream<Uint8Array> | undefined {
  const { who, live, filter, write, now, most = MOST_WAITING } = stream;
  const encoder = new TextEncoder();
  const waiting: (() => Promise<string>)[] = [];
  const known = new Set<string>();
  let wake: (() => void) | undefined;
  let reason: End | undefined;
  let lastSent = now();

  const stop = live.listen(
    who,
    (call) => {
      if (matches(call, filter)) push(call);
    },
    () => finish('stopping'),
  );
  if (!stop) return undefined;

  function push(call: CallRow): void {
    if (reason !== undefined || known.has(call.id)) return;
    remember(known, call.id);
    if (waiting.length >= most) {
      finish('slow-reader');
      return;
    }
    waiting.push(async () => `event: call\ndata: ${JSON.stringify(await write(call))}\n\n`);
    wake?.();
  }

  function finish(why: End): void {
    reason ??= why;
    if (reason === 'slow-reader') waiting.length = 0;
    stop?.();
    clearInterval(timer);
    wake?.();
  }

  function fail(thrown: unknown): undefined {
    stream.reportError('A live list of calls could not be read.', thrown);
    finish('failed');
  }

  let isFirst = true;
  let isLooking = false;
  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    try {
      if (!(await stream.mayGoOn())) return finish('signed-out');
      const from = Math.max(filter.from ?? 0, now() - LONGEST_CALL_MS);
      const { calls } = await stream.store.callPage({ ...filter, from, limit: MOST_READ }, MOST_READ);
      // What had ended before is in the list that the reader has.
      if (isFirst) for (const { id } of calls) remember(known, id);
      else for (const call of calls.toReversed()) push(call);
      isFirst = false;
      // A clock that was ahead may be set back.
      if (Math.abs(now() - lastSent) >= (stream.heartbeatMs ?? HEARTBEAT_MS) && waiting.length === 0) {
        waiting.push(() => Promise.resolve(': alive\n\n'));
        wake?.();
      }
    } catch (thrown) {
      fail(thrown);
    } finally {
      isLooking = false;
    }
  }
  const timer = setInterval(() => void look(), stream.tickMs ?? TICK_MS);
  void look();

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(': calls\n\n'));
      },
      async pull(controller) {
        while (waiting.length === 0 && reason === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        const next = waiting.shift();
        if (next) {
          lastSent = now();
          // A stream that fails is not cancelled: it would look and listen for ever.
          const text = await next().catch(fail);
          if (text !== undefined) return controller.enqueue(encoder.encode(text));
        }
        controller.enqueue(encoder.encode(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`));
        controller.close();
      },
      cancel() {
        finish('stopping');
      },
    },
    { highWaterMark: 0 },
  );
}

function remember(known: Set<string>, id: string): void {
  known.add(id);
  if (known.size <= MOST_KNOWN) return;
  for (const oldest of known) {
    known.delete(oldest);
    return;
  }
}

/** As the list's query decides it. */
export function matches(call: CallRow, filter: Omit<CallFilter, 'limit' | 'after'>): boolean {
  const { account, key, model, provider, status, error, tag, outcome, costAbove, from, to } = filter;
  return (
    (account === undefined || call.account === account) &&
    (key === undefined || call.key === key) &&
    (model === undefined || call.model === model) &&
    (provider === undefined || call.provider === provider) &&
    (status === undefined || call.status === status) &&
    (error === undefined || call.errorCode === error) &&
    (outcome === undefined || call.outcome === outcome) &&
    (tag === undefined || (call.tags?.includes(tag) ?? false)) &&
    (costAbove === undefined || call.cost > costAbove) &&
    (from === undefined || call.at >= from) &&
    (to === undefined || call.at < to)
  );
}
