/** JSON as data: what a body may hold once it is parsed. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json };
export type JsonObject = { [member: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}
