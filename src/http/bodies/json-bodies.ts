/** Checks JSON bodies against limits before they are parsed, and parses large ones in a worker thread. */

import { GatewayError } from '../../canonical/errors.ts';
import { startThread, workerProgram } from '../../canonical/worker-program.ts';
import { keepParsed } from '../../dialects/shared/request-body.ts';
import { type JsonBounds, type JsonExcess, scanJson } from './json-scan.ts';
import type { ParseRequest, ParseResult } from './json-worker.ts';

export interface JsonBodies {
  /**
   * Returns the body when it may be parsed. A body that is not JSON is returned unchanged. If a promise is returned, the given bytes must
   * not be used any more. Throws `request_too_large` if a limit is exceeded, `invalid_request` if the body is nested too deeply or, for
   * large bodies, not JSON.
   */
  admit(body: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** Smaller bodies are parsed on the main thread, which takes a few milliseconds. */
const LARGE_BYTES = 1024 * 1024;
/** Counting the members of smaller bodies costs more than they could cost. Their depth is checked after parsing (`parseBody`). */
const SMALL_BYTES = 256 * 1024;
/** The worker keeps the memory of the largest body it parsed, so it ends after this idle time. */
const IDLE_MS = 30_000;

const SENTENCES: { readonly [excess in JsonExcess]: (bound: number) => string } = {
  depth: (bound) => `The body is nested more than ${bound} levels deep.`,
  values: (bound) => `The body has more than the maximum of ${bound} array elements and object members.`,
  members: (bound) => `The body has more than the maximum of ${bound} object members.`,
  membersOfOne: (bound) => `An object in the body has more than the maximum of ${bound} members.`,
};

export function createJsonBodies(bounds: JsonBounds): JsonBodies {
  const thread = createParseThread();

  function refusal(excess: JsonExcess): GatewayError {
    const sentence = SENTENCES[excess](bounds[excess]);
    return new GatewayError(excess === 'depth' ? 'invalid_request' : 'request_too_large', sentence);
  }

  async function parseApart(body: Uint8Array): Promise<Uint8Array> {
    const { bytes, result } = await thread.parse(body, bounds);
    if ('excess' in result) throw refusal(result.excess);
    if ('broken' in result)
      throw new GatewayError('invalid_request', `The body must be JSON in UTF-8. ${result.broken}`);
    const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    keepParsed(whole, result.value);
    return whole;
  }

  return {
    admit(body) {
      if (body.length <= SMALL_BYTES || !beginsJson(body)) return body;
      if (body.length > LARGE_BYTES) return parseApart(body);
      const excess = scanJson(
        Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.length),
        bounds,
      );
      if (excess) throw refusal(excess);
      return body;
    },
  };
}

/** Whether an object or array follows white space and a byte order mark. Anything else is cheap to parse, or is not JSON. */
function beginsJson(body: Uint8Array): boolean {
  let at = body[0] === 0xef ? 3 : 0;
  while (body[at] === 0x20 || (body[at]! >= 9 && body[at]! <= 13)) at++;
  return body[at] === 0x7b || body[at] === 0x5b;
}

interface PendingParse {
  resolve(answered: ParseResult): void;
  reject(error: GatewayError): void;
}

/** One worker for the process: bodies wait for each other. It starts with the first large body. */
function createParseThread() {
  const pending = new Map<number, PendingParse>();
  let worker: Worker | undefined;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let last = 0;

  function start(): Worker {
    const started = startThread(workerProgram(new URL('./json-worker.ts', import.meta.url)));
    started.onmessage = ({ data }: MessageEvent<ParseResult>) => {
      pending.get(data.id)?.resolve(data);
      pending.delete(data.id);
      if (pending.size === 0) idle = setTimeout(end, IDLE_MS).unref();
    };
    started.onerror = (event) => {
      event.preventDefault();
      end();
      const cause = new Error(event.message);
      const error = new GatewayError('internal_error', 'The gateway had an internal error. Please try again.', {
        cause,
      });
      for (const { reject } of pending.values()) reject(error);
      pending.clear();
    };
    started.unref();
    return started;
  }

  function end(): void {
    worker?.terminate();
    worker = undefined;
  }

  return {
    parse(body: Uint8Array, bounds: JsonBounds): Promise<ParseResult> {
      clearTimeout(idle);
      worker ??= start();
      const id = ++last;
      // A buffer that is shared with other data cannot be transferred.
      const bytes = body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body);
      const answered = new Promise<ParseResult>((resolve, reject) => pending.set(id, { resolve, reject }));
      worker.postMessage({ id, bytes, bounds } satisfies ParseRequest, [bytes.buffer as ArrayBuffer]);
      return answered;
    },
  };
}
