/** Reads media in the messages of chat completions and Responses. */

import type { Media } from '../../../canonical/call.ts';
import { entryOf } from '../../../canonical/entry-of.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import { wrong } from '../../shared/request-body.ts';

const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*;base64,/i;
const LONGEST_DATA_URL_HEAD = 200;
const AUDIO_TYPES: { readonly [format: string]: string } = { mp3: 'audio/mpeg', pcm16: 'audio/pcm' };

/** Media by URL; a data URL contains the media itself. */
export function mediaFromUrl(kind: Media['kind'], url: string): Media {
  const match = DATA_URL.exec(url.slice(0, LONGEST_DATA_URL_HEAD));
  if (!match) return { kind, source: { type: 'url', url } };
  const source = { type: 'inline' as const, base64: url.slice(match[0].length) };
  return { kind, source, ...(match[1] && { mimeType: match[1].toLowerCase() }) };
}

/** The audio of an `input_audio` part: `{data, format}`. */
export function readInputAudio(part: JsonObject, path: string): Media {
  const audio = part.input_audio;
  if (!isObject(audio)) throw wrong(`${path}.input_audio`, 'must be an object with `data` and `format`');
  const format = requiredText(audio, 'format', `${path}.input_audio`);
  const base64 = requiredText(audio, 'data', `${path}.input_audio`);
  return {
    kind: 'audio',
    source: { type: 'inline', base64 },
    mimeType: entryOf(AUDIO_TYPES, format) ?? `audio/${format}`,
  };
}

/** A string member. Throws `invalid_request` for any other value; `path` is the object's path. */
export function requiredText(object: JsonObject, member: string, path: string): string {
  const value = object[member];
  if (typeof value !== 'string') throw wrong(`${path}.${member}`, 'must be a string');
  return value;
}

/** The same for a member that may be absent or null. */
export function optionalText(object: JsonObject, member: string, path: string): string | undefined {
  const value = object[member];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw wrong(`${path}.${member}`, 'must be a string');
  return value;
}
