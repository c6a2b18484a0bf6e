/** JSON as data: what a body may hold once it is parsed. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json };
export type JsonObject = { [member: string]: Json };

/** Objects and arrays within one another that a body may have: whoever reads one goes down into it. */
export const MAX_JSON_DEPTH = 100;

/** Whether there are more levels of objects and arrays than this. */
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
