/** Bodies of JSON before anybody reads them: held to their bounds, and parsed in a thread where they are large. */
import { existsSync } from 'node:fs';
import { GatewayError } from '../canonical/errors.ts';
import { keepParsed } from '../dialects/shared/request-body.ts';
import { type JsonBounds, type JsonExcess, scanJson } from './json-scan.ts';
import type { ParseAnswered, ParseAsked } from './json-worker.ts';

export interface JsonBodies {
  /**
   * The body, once it may be parsed; what is no JSON passes as it is. Where a promise is returned, the bytes given are not to be used any more.
   * Throws `request_too_large` where a bound is broken, `invalid_request` where it is nested too deeply or, if it is large, no JSON.
   */
  admit(body: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** A smaller body is parsed where it is wanted: in a few milliseconds. */
const LARGE_BYTES = 1024 * 1024;
/** What a smaller body can hold costs less than counting it: its depth is looked at once it is parsed (`parseBody`). */
const SMALL_BYTES = 256 * 1024;
/** The thread has the memory of the largest body it has parsed. */
const IDLE_MS = 30_000;

const SENTENCES: { readonly [excess in JsonExcess]: (bound: number) => string } = {
  depth: (bound) => `The body is nested more than ${bound} levels deep.`,
  values: (bound) => `The body has more than ${bound} array elements and object members, the most taken here.`,
  members: (bound) => `The body has more than ${bound} object members, the most taken here.`,
  membersOfOne: (bound) => `An object in the body has more than ${bound} members, the most taken here.`,
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

/** After blanks and a byte order mark, an object or a list: all else is parsed for next to nothing, or is no JSON. */
function beginsJson(body: Uint8Array): boolean {
  let at = body[0] === 0xef ? 3 : 0;
  while (body[at] === 0x20 || (body[at]! >= 9 && body[at]! <= 13)) at++;
  return body[at] === 0x7b || body[at] === 0x5b;
}

interface Pending {
  resolve(answered: ParseAnswered): void;
  reject(error: GatewayError): void;
}

/** One for the whole process: a body waits for those before it. It starts with the first large body. */
function createParseThread() {
  const pending = new Map<number, Pending>();
  let worker: Worker | undefined;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let last = 0;

  function start(): Worker {
    const started = new Worker(programUrl().href);
    started.onmessage = ({ data }: MessageEvent<ParseAnswered>) => {
      pending.get(data.id)?.resolve(data);
      pending.delete(data.id);
      if (pending.size === 0) idle = setTimeout(end, IDLE_MS).unref();
    };
    started.onerror = (event) => {
      event.preventDefault();
      end();
      const cause = new Error(event.message);
      const error = new GatewayError('internal_error', 'The gateway failed on its own side. Please try again.', {
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
    parse(body: Uint8Array, bounds: JsonBounds): Promise<ParseAnswered> {
      clearTimeout(idle);
      worker ??= start();
      const id = ++last;
      // What shares its memory with others cannot be handed over.
      const bytes = body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body);
      const answered = new Promise<ParseAnswered>((resolve, reject) => pending.set(id, { resolve, reject }));
      worker.postMessage({ id, bytes, bounds } satisfies ParseAsked, [bytes.buffer as ArrayBuffer]);
      return answered;
    },
  };
}

/** The thread's program is beside this file, or beside what the launcher has bundled this file into. */
function programUrl(): URL {
  const beside = new URL('./json-worker.ts', import.meta.url);
  return existsSync(beside) ? beside : new URL('../../../src/http/json-worker.ts', import.meta.url);
}
