/** Reads an image in a request: a URL, a data URL, base64, or an object with one of them. */
import type { Media } from '../../../canonical/call.ts';
import { isObject, type Json } from '../../../canonical/json.ts';
import { wrong } from '../../shared/request-body.ts';

const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*;base64,/i;
const BASE64 = /^[A-Za-z0-9+/]{16,}={0,2}$/;

export function readImage(value: Json, path: string): Media {
  if (isObject(value)) {
    const inner = [value.image_url, value.url, value.b64_json, value.image].find((one) => one !== undefined);
    if (inner === undefined) throw wrong(path, 'must have an `image_url`: an address or a data URL');
    return readImage(inner, path);
  }
  if (typeof value !== 'string') throw wrong(path, 'must be an address, a data URL or base64');
  const match = DATA_URL.exec(value.slice(0, 200));
  if (match) {
    const base64 = value.slice(match[0].length);
    return { kind: 'image', source: { type: 'inline', base64 }, ...(match[1] && { mimeType: match[1].toLowerCase() }) };
  }
  if (BASE64.test(value)) return { kind: 'image', source: { type: 'inline', base64: value } };
  return { kind: 'image', source: { type: 'url', url: value } };
}
