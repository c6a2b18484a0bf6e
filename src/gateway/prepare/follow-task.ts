/** Work that a provider takes on and is asked after until it is done, within the one call. */
import { GatewayError } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../canonical/json.ts';
import type { Outgoing } from '../../providers/provider.ts';
import type { Cancellation } from '../../transport/cancellation.ts';
import type { Exchange } from '../../transport/exchange.ts';

/** What asking after it takes: everything that concerns the provider and the way there. */
export interface Asking {
  /** Where to ask next; nothing: this answer is the last word. */
  next(answer: JsonObject): string | undefined;
  /** Sends a request as the first one was sent. */
  send(outgoing: Outgoing): Promise<Exchange>;
  maxBytes: number;
  /** Of the monotonic clock. */
  deadlineMs: number;
  cancellation: Cancellation;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 3000;
const GROWTH = 1.4;
/** Questions in a row that may go wrong: the work goes on all the same. */
const MOST_FAILURES = 5;

/** The body of the last word. Throws `upstream_failed` or `upstream_timeout`. */
export async function followTask(submitted: Exchange, asking: Asking): Promise<Uint8Array> {
  let body = await submitted.readAll(asking.maxBytes);
  let url = asking.next(parsed(body));
  let failures = 0;
  for (let pauseMs = FIRST_PAUSE_MS; url !== undefined; pauseMs = Math.min(pauseMs * GROWTH, LONGEST_PAUSE_MS)) {
    if (performance.now() + pauseMs > asking.deadlineMs) throw tooLong();
    await pause(pauseMs, asking.cancellation);
    const exchange = await asking.send({ method: 'GET', url, headers: {}, body: undefined });
    if (exchange.status >= 300) {
      exchange.cancel();
      if (++failures > MOST_FAILURES) throw lost(exchange.status);
      continue;
    }
    failures = 0;
    body = await exchange.readAll(asking.maxBytes);
    url = asking.next(parsed(body));
  }
  return body;
}

function parsed(body: Uint8Array): JsonObject {
  try {
    const answer: unknown = JSON.parse(Buffer.from(body).toString());
    if (isObject(answer)) return answer;
  } catch {
    // Told below.
  }
  throw new GatewayError('upstream_failed', 'The provider sent a reply that could not be read.');
}

/** Ends early where the call is over. */
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
