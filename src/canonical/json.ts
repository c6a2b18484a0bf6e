/** Types of parsed JSON. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json };
export type JsonObject = { [member: string]: Json };
/** Members of an object that is being written; undefined ones are left out. */
export type JsonMembers = { [member: string]: Json | undefined };

/** The maximum nesting of objects and arrays in a body, because readers are recursive. */
export const MAX_JSON_DEPTH = 100;

/** Whether objects and arrays are nested more deeply than this. */
export function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && isDeeper(item, levels - 1)) return true;
    return false;
  }
  for (const name in value) if (typeof value[name] === 'object' && isDeeper(value[name], levels - 1)) return true;
  return false;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}
