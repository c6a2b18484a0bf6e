/** Members that stand twice in a setting of a body: a provider that reads the first answers another request than was held for. */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { memberPlaces, placeNamed } from '../../wire/json.ts';

/** A text of JSON, string by string; a name is one with a colon behind it. */
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

/** Those of these top-level members in which, at any depth, a name stands twice; with the values that were read of them. */
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
