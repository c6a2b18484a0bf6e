/**
 * Finds members that occur twice inside a setting. A provider that reads the first would answer another request than
 * was priced.
 */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { memberPlaces, placeNamed } from '../../wire/json.ts';

/** Matches each string of a JSON text. A member name is a string followed by a colon. */
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

/** Returns those of the given top-level members that contain a repeated name at any depth, with their parsed values. */
export function repeatingSettings(
  body: JsonObject,
  bytes: Uint8Array,
  names: readonly string[],
): { [member: string]: Json | undefined } | undefined {
  const places = memberPlaces(bytes);
  let found: { [member: string]: Json | undefined } | undefined;
  for (const name of names) {
    const place = placeNamed(bytes, places, name);
    const value = body[name];
    if (!place || value === undefined) continue;
    const text = Buffer.from(
      bytes.buffer,
      bytes.byteOffset + place.valueStart,
      place.end - place.valueStart,
    ).toString();
    if (namesIn(text) > namesOf(value)) found = { ...found, [name]: value };
  }
  return found;
}

function namesIn(text: string): number {
  let count = 0;
  for (const [, colon] of text.matchAll(STRINGS)) if (colon !== undefined) count++;
  return count;
}

function namesOf(value: Json): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + namesOf(one), 0);
  if (!isObject(value)) return 0;
  return Object.values(value).reduce<number>((sum, one) => sum + 1 + namesOf(one), 0);
}
