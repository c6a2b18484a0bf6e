/** A body as members: JSON, or a form whose files become data URLs. */
import { GatewayError } from '../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../canonical/json.ts';

/** Throws `invalid_request` where the body is neither. */
export async function readMembers(body: Uint8Array, contentType: string): Promise<JsonObject> {
  if (/^multipart\/form-data/i.test(contentType) || /^application\/x-www-form-urlencoded/i.test(contentType)) {
    return readForm(body, contentType);
  }
  if (body.length === 0) return {};
  try {
    const members: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (isObject(members)) return members;
  } catch (cause) {
    throw new GatewayError('invalid_request', 'The body must be JSON in UTF-8, or a form (multipart/form-data).', {
      cause,
    });
  }
  throw new GatewayError('invalid_request', 'The body must be a JSON object.');
}

async function readForm(body: Uint8Array, contentType: string): Promise<JsonObject> {
  let form: Awaited<ReturnType<Response['formData']>>;
  try {
    form = await new Response(body as Bun.BodyInit, { headers: { 'content-type': contentType } }).formData();
  } catch (cause) {
    throw new GatewayError(
      'invalid_request',
      'The form could not be read: its parts are incomplete, or not as its boundary says.',
      { cause },
    );
  }
  const members: JsonObject = {};
  for (const [name, value] of form.entries()) {
    const said = typeof value === 'string' ? value : await dataUrl(value);
    const [, object, member] = MEMBER.exec(name) ?? [];
    if (object !== undefined && member !== undefined) {
      const earlier = members[object];
      members[object] = { ...(isObject(earlier) && earlier), [member]: said };
      continue;
    }
    const list = name.endsWith('[]') ? name.slice(0, -2) : name;
    const earlier = members[list];
    members[list] = earlier === undefined ? said : ([...(Array.isArray(earlier) ? earlier : [earlier]), said] as Json);
  }
  return members;
}

/** The official libraries write objects into forms member by member: `input_reference[image_url]`. */
const MEMBER = /^(\w+)\[(\w+)\]$/;

async function dataUrl(file: Blob): Promise<string> {
  const type = file.type.split(';')[0] || 'application/octet-stream';
  return `data:${type};base64,${Buffer.from(await file.arrayBuffer()).toString('base64')}`;
}
