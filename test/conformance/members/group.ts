/** What of a format's objects is tried: a value for every member, in its place. */
import type { Json, JsonObject } from '../../../src/canonical/json.ts';

/** Part of every request already: it could not be asked without it. */
export const GIVEN = Symbol('given');
/** Says nothing that a model or its provider could be told; the reason stands beside it. */
export interface Idle {
  idle: string;
}
export type Specimen = Json | typeof GIVEN | Idle | undefined;

/** Whether it says something that must not get lost. */
export function isTold(specimen: Specimen): boolean {
  if (specimen === GIVEN || specimen === undefined) return false;
  return typeof specimen !== 'object' || specimen === null || !('idle' in specimen);
}

export interface Group {
  dialect: string;
  /** The library's declaration; absent where the format has no such object of its own. */
  declared?: string;
  /** The request with these members in their place. */
  body(members: JsonObject): JsonObject;
  members: { readonly [member: string]: Specimen };
  /** Members that the library has for itself or that another group holds. */
  elsewhere?: readonly string[];
}
