/** The test values of a format's objects: one for every member. */
import type { Json, JsonObject } from '../../../src/canonical/json.ts';

/** Already part of every request, which would be incomplete without it. */
export const GIVEN = Symbol('given');
/** Has no meaning for a model or provider; the reason is given. */
export interface Idle {
  idle: string;
}
export type Specimen = Json | typeof GIVEN | Idle | undefined;

/** Whether the value has a meaning that must not be lost. */
export function isReportable(specimen: Specimen): boolean {
  if (specimen === GIVEN || specimen === undefined) return false;
  return typeof specimen !== 'object' || specimen === null || !('idle' in specimen);
}

export interface Group {
  dialect: string;
  /** The library's declaration; absent if the format has no such object. */
  declared?: string;
  /** The request with these members. */
  body(members: JsonObject): JsonObject;
  members: { readonly [member: string]: Specimen };
  /** Members that concern only the library, or that another group has. */
  elsewhere?: readonly string[];
}
