/** Reads a body as members: JSON, or a form whose files become data URLs. */
import { GatewayError } from '../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import { parseBody } from '../../dialects/shared/request-body.ts';
import { formBoundary, readForm } from '../../dialects/wire/multipart.ts';

/** Throws `invalid_request` if the body is neither. */
export function readMembers(body: Uint8Array, contentType: string): JsonObject {
  const boundary = formBoundary(contentType);
  if (boundary !== undefined) return membersOf(partsOf(body, boundary));
  if (/^application\/x-www-form-urlencoded/i.test(contentType)) return membersOf(pairsOf(body));
  if (/^multipart\/form-data/i.test(contentType))
    throw new GatewayError('invalid_request', 'The content type of the form has no boundary.');
  if (body.length === 0) return {};
  const members = parseBody(body, 'The body must be JSON in UTF-8, or a form (multipart/form-data).');
  if (isObject(members)) return members;
  throw new GatewayError('invalid_request', 'The body must be a JSON object.');
}

/** Names and values in order. A file is a data URL. */
type Pair = readonly [name: string, value: string];

function partsOf(body: Uint8Array, boundary: string): Pair[] {
  return readForm(body, boundary).map(({ name, filename, contentType = 'application/octet-stream', bytes }) => {
    const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return [name, filename === undefined ? data.toString() : `data:${contentType};base64,${data.toString('base64')}`];
  });
}

function pairsOf(body: Uint8Array): Pair[] {
  let pairs = 1;
  for (let at = body.indexOf(AMPERSAND); at >= 0; at = body.indexOf(AMPERSAND, at + 1)) {
    if (++pairs > MOST_PAIRS)
      throw new GatewayError('request_too_large', `A form may have at most ${MOST_PAIRS} fields.`);
  }
  return [...new URLSearchParams(Buffer.from(body).toString())];
}

const AMPERSAND = 0x26;
/** The limit of multipart forms. */
const MOST_PAIRS = 200;

function membersOf(pairs: readonly Pair[]): JsonObject {
  const members: JsonObject = {};
  for (const [name, value] of pairs) {
    const [, object, member] = MEMBER.exec(name) ?? [];
    if (object !== undefined && member !== undefined) {
      const earlier = members[object];
      members[object] = { ...(isObject(earlier) && earlier), [member]: value };
      continue;
    }
    const list = name.endsWith('[]') ? name.slice(0, -2) : name;
    const earlier = members[list];
    members[list] =
      earlier === undefined ? value : ([...(Array.isArray(earlier) ? earlier : [earlier]), value] as Json);
  }
  return members;
}

/** The official libraries flatten objects in forms: `input_reference[image_url]`. */
const MEMBER = /^(\w+)\[(\w+)\]$/;
