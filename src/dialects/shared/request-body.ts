/** What every format does with a client's body: reads it as JSON, and names the member that is wrong. */
import { GatewayError } from '../../canonical/errors.ts';
import { isDeeper, type Json, MAX_JSON_DEPTH } from '../../canonical/json.ts';
import { whyNoJson } from '../../canonical/json-fault.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** What large bodies hold, parsed elsewhere before anybody reads them; kept as long as their bytes. Nobody changes it. */
const parsed = new WeakMap<Uint8Array, Json>();
const LARGE_BYTES = 1024 * 1024;

/** From now on the body is read as this, and not parsed again. */
export function keepParsed(body: Uint8Array, value: Json): void {
  parsed.set(body, value);
}

function parsedBody(body: Uint8Array): Json | undefined {
  return body.length > LARGE_BYTES ? parsed.get(body) : undefined;
}

/** Throws `invalid_request` with this sentence where the body is no JSON in UTF-8, with another where it is nested too deeply. */
export function parseBody(body: Uint8Array, sentence = 'The body must be JSON in UTF-8.'): Json {
  const known = parsedBody(body);
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

/** A client's mistake: the member by its path, and what is wrong with it. */
export function wrong(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', `\`${param}\` ${what}.`, { param });
}

/** `['messages', '2', 'content']` -> `messages[2].content` */
export function dotted(path: readonly string[]): string {
  return path.reduce(
    (whole, step) => whole + (/^\d+$/.test(step) ? `[${step}]` : whole === '' ? step : `.${step}`),
    '',
  );
}
