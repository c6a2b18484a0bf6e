/** Parses a client's body as JSON, and makes the error for a wrong member. */
import { GatewayError } from '../../canonical/errors.ts';
import { isDeeper, isObject, type Json, type JsonObject, MAX_JSON_DEPTH } from '../../canonical/json.ts';
import { whyNoJson } from '../../canonical/json-fault.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Large bodies that a worker has already parsed, by their bytes. Treat the values as read-only. */
const parsed = new WeakMap<Uint8Array, Json>();
const LARGE_BYTES = 1024 * 1024;

/** Stores the parsed form of a body, so that `parseBody` does not parse it again. */
export function keepParsed(body: Uint8Array, value: Json): void {
  parsed.set(body, value);
}

/** The members of a body that is an object. Throws `invalid_request`. */
export function parseMembers(body: Uint8Array): JsonObject {
  const members = parseBody(body);
  if (!isObject(members)) throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  return members;
}

/**
 * Throws `invalid_request`, with this message if the body is not JSON in UTF-8, with another if it is nested too
 * deeply.
 */
export function parseBody(body: Uint8Array, sentence = 'The body must be JSON in UTF-8.'): Json {
  const known = body.length > LARGE_BYTES ? parsed.get(body) : undefined;
  if (known !== undefined) return known;
  let value: Json;
  try {
    value = JSON.parse(decoder.decode(body)) as Json;
  } catch (cause) {
    throw new GatewayError('invalid_request', `${sentence} ${whyNoJson(body)}`, { cause });
  }
  if (!isDeeper(value, MAX_JSON_DEPTH)) return value;
  throw new GatewayError('invalid_request', `The body is nested more than ${MAX_JSON_DEPTH} levels deep.`);
}

/** The same, and throws `invalid_request` for JSON that is no object. */
export function parseObject(body: Uint8Array): JsonObject {
  const value = parseBody(body);
  if (isObject(value)) return value;
  throw new GatewayError('invalid_request', 'The body must be a JSON object.');
}

/**
 * The error for a client's mistake: the member's path and what is wrong with it.
 * @example wrong('temperature', 'must be a number from 0 to 2')
 */
export function wrong(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', `\`${param}\` ${what}.`, { param });
}

/** `['messages', '2', 'content']` becomes `messages[2].content`. */
export function dotted(path: readonly string[]): string {
  return path.reduce(
    (whole, step) => whole + (/^\d+$/.test(step) ? `[${step}]` : whole === '' ? step : `.${step}`),
    '',
  );
}
