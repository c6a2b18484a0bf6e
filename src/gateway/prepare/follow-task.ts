/** Providers that accept a task and are polled until it is done, within one call. */
import { GatewayError } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../canonical/json.ts';
import type { Outgoing } from '../../providers/outgoing.ts';
import type { TaskForm } from '../../providers/provider.ts';
import type { Cancellation } from '../../transport/cancellation.ts';
import type { Exchange } from '../../transport/exchange.ts';
import type { CallContext } from '../call-context.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { TargetRoute } from '../target-route.ts';

/** How a task is polled. */
export interface Polling {
  /** The URL to poll next; nothing: this answer is the last one. */
  next(answer: JsonObject): string | undefined;
  /** Signs the request and sends it. */
  send(outgoing: Outgoing): Promise<Exchange>;
  maxBytes: number;
  /** Of the monotonic clock. */
  deadlineMs: number;
  cancellation: Cancellation;
}

/** Polls the task that the provider has accepted in the answer `submitted`. */
export function finishTask(
  deps: GatewayDeps,
  { startedMs }: CallContext,
  { provider, target }: TargetRoute,
  task: TaskForm,
  submitted: Exchange,
  cancellation: Cancellation,
): Promise<Uint8Array> {
  const { limits, maxReplyBytes } = deps.settings;
  const deadlineMs = startedMs + limits.wholeMs;
  return followTask(submitted, {
    next: (answer) => task.next(target, answer),
    async send(request) {
      await provider.authorize(request, target, deps.signing);
      return deps.transport.send(request, limits, deadlineMs, cancellation);
    },
    maxBytes: maxReplyBytes,
    deadlineMs,
    cancellation,
  });
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 3000;
const GROWTH = 1.4;
/** Polls in a row that may fail while the task continues. */
const MOST_FAILURES = 5;

/** The body of the last answer. Throws `upstream_failed` or `upstream_timeout`. */
export async function followTask(submitted: Exchange, polling: Polling): Promise<Uint8Array> {
  let body = await submitted.readAll(polling.maxBytes);
  let url = polling.next(parsed(body));
  let failures = 0;
  for (let pauseMs = FIRST_PAUSE_MS; url !== undefined; pauseMs = Math.min(pauseMs * GROWTH, LONGEST_PAUSE_MS)) {
    if (performance.now() + pauseMs > polling.deadlineMs) throw tooLong();
    await pause(pauseMs, polling.cancellation);
    const exchange = await polling.send({ method: 'GET', url, headers: {}, body: undefined });
    if (exchange.status >= 300) {
      exchange.cancel();
      if (++failures > MOST_FAILURES) throw lost(exchange.status);
      continue;
    }
    failures = 0;
    body = await exchange.readAll(polling.maxBytes);
    url = polling.next(parsed(body));
  }
  return body;
}

function parsed(body: Uint8Array): JsonObject {
  try {
    const answer: unknown = JSON.parse(Buffer.from(body).toString());
    if (isObject(answer)) return answer;
  } catch {
    // Reported below.
  }
  throw new GatewayError('upstream_failed', 'The provider sent a reply that could not be read.');
}

/** Rejects early where the call is cancelled. */
function pause(ms: number, cancellation: Cancellation): Promise<void> {
  return new Promise((resolve, reject) => {
    const pausing = {
      cancel() {
        clearTimeout(timer);
        reject(new GatewayError('upstream_failed', 'The call was cancelled.', { retryable: false }));
      },
    };
    const timer = setTimeout(() => {
      cancellation.delete(pausing);
      resolve();
    }, ms);
    cancellation.add(pausing);
  });
}

function tooLong(): GatewayError {
  const sentence = 'The call took longer than a whole call may take.';
  return new GatewayError('upstream_timeout', sentence, { retryable: false });
}

function lost(status: number): GatewayError {
  return new GatewayError('upstream_failed', 'The provider no longer says how the work goes on.', {
    cause: status,
  });
}
