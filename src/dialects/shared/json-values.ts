/** Reads parsed JSON whose types are not known: a value of another type counts as absent. */
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';

/** The string, or `''` for any other value. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The object, or `{}` for any other value. */
export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The objects in a list; `[]` for any other value. */
export function objectsIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function objectAt(object: JsonObject, member: string): JsonObject | undefined {
  const value = object[member];
  return isObject(value) ? value : undefined;
}

export function stringAt(object: JsonObject, member: string): string | undefined {
  const value = object[member];
  return typeof value === 'string' ? value : undefined;
}

/** Parses a text; `undefined` if it is not JSON. */
export function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
