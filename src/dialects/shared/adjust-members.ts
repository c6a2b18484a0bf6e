/** Drops and renames the top-level members of a request as a provider's quirks say. */
import { isEmpty, type Json, type JsonObject } from '../../canonical/json.ts';
import type { OutgoingBody } from './outgoing-body.ts';
import type { Quirks } from './quirks.ts';

/** Members to set, or to remove (`undefined`), and what is reported about that. */
export interface Patches {
  members: { [member: string]: Json | undefined };
  warnings: string[];
}

const touched = new WeakMap<Quirks, ReadonlySet<string>>();

/** Changes the body; returns a sentence for each member that is dropped. */
export function adjustMembers(body: OutgoingBody, quirks: Quirks): string[] {
  const names = membersTouched(quirks);
  if (names.size === 0) return [];
  const members: JsonObject = {};
  for (const name of names) {
    const value = body.get(name);
    if (value !== undefined) members[name] = value;
  }
  const patches = memberPatches(members, quirks);
  for (const name in patches.members) body.set(name, patches.members[name]);
  return patches.warnings;
}

/** The members that these quirks of a model drop, fix or rename. */
function membersTouched(quirks: Quirks): ReadonlySet<string> {
  let names = touched.get(quirks);
  if (!names) {
    const { rejects = [], fixed = {}, renames = {} } = quirks;
    names = new Set([...rejects, ...Object.keys(fixed), ...Object.entries(renames).flat()]);
    touched.set(quirks, names);
  }
  return names;
}

/** What to set and to remove among the top-level `members` of a request. */
export function memberPatches(members: Readonly<JsonObject>, quirks: Quirks): Patches {
  const patches: Patches = { members: {}, warnings: [] };
  if (membersTouched(quirks).size === 0) return patches;
  for (const member of quirks.rejects ?? []) {
    if (members[member] === undefined) continue;
    patches.members[member] = undefined;
    if (isGiven(members[member])) patches.warnings.push(`\`${member}\` was dropped: the provider does not take it.`);
  }
  for (const [member, value] of Object.entries(quirks.fixed ?? {})) {
    if (!isGiven(members[member]) || members[member] === value) continue;
    patches.members[member] = undefined;
    patches.warnings.push(`\`${member}\` was dropped: the model takes only ${JSON.stringify(value)}.`);
  }
  for (const [from, to] of Object.entries(quirks.renames ?? {})) {
    const value = members[from];
    if (value === undefined) continue;
    patches.members[from] = undefined;
    if (!isGiven(members[to])) patches.members[to] = value;
  }
  return patches;
}

/** `members` with the patches applied. */
export function patchedMembers(members: Readonly<JsonObject>, patches: Patches['members']): Readonly<JsonObject> {
  if (isEmpty(patches)) return members;
  const patched: JsonObject = { ...members };
  for (const [member, value] of Object.entries(patches)) {
    if (value === undefined) delete patched[member];
    else patched[member] = value;
  }
  return patched;
}

/** Many clients write `null` for a default. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
