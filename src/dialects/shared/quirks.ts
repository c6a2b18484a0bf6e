/** Applies a provider's deviations, which are data, to the members of a request. */
import { isEmpty, type Json, type JsonObject } from '../../canonical/json.ts';
import type { Quirks } from '../dialect.ts';
import type { OutgoingBody } from './outgoing-body.ts';

/** Members to set, or to remove (`undefined`), and what is said of that. */
export interface Patches {
  members: { [member: string]: Json | undefined };
  warnings: string[];
}

const resolved = new WeakMap<Quirks, Map<string, Quirks>>();
// Upstream names come from the configuration, so this stays small; the bound only guards against names that are made up.
const MAX_REMEMBERED_MODELS = 1000;

/** The deviations that hold for this upstream model: the provider's, then the rows that match its name, one on the other. */
export function quirksOf(quirks: Quirks, model: string): Quirks {
  if (!quirks.models) return quirks;
  let byModel = resolved.get(quirks);
  if (!byModel) {
    byModel = new Map();
    resolved.set(quirks, byModel);
  }
  let found = byModel.get(model);
  if (!found) {
    found = resolve(quirks, model);
    if (byModel.size < MAX_REMEMBERED_MODELS) byModel.set(model, found);
  }
  return found;
}

function resolve({ models = [], ...own }: Quirks, model: string): Quirks {
  return models.filter((row) => new RegExp(row.match).test(model)).reduce((sum, row) => merge(sum, row.quirks), own);
}

function merge(a: Quirks, b: Quirks): Quirks {
  return {
    ...a,
    ...b,
    rejects: [...new Set([...(a.rejects ?? []), ...(b.rejects ?? [])])],
    messageRejects: [...(a.messageRejects ?? []), ...(b.messageRejects ?? [])],
    fixed: { ...a.fixed, ...b.fixed },
    renames: { ...a.renames, ...b.renames },
  };
}

const touched = new WeakMap<Quirks, ReadonlySet<string>>();

/** Makes the top-level members what the provider takes; returns what of them it is not told, a sentence each. */
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

/** The members of a request that these deviations, those of a model, are about. */
function membersTouched(quirks: Quirks): ReadonlySet<string> {
  let names = touched.get(quirks);
  if (!names) {
    const { rejects = [], fixed = {}, renames = {} } = quirks;
    names = new Set([...rejects, ...Object.keys(fixed), ...Object.entries(renames).flat()]);
    touched.set(quirks, names);
  }
  return names;
}

/** What to set and to remove among a request's top-level `members` so that the provider takes it. */
export function memberPatches(members: Readonly<JsonObject>, quirks: Quirks): Patches {
  const patches: Patches = { members: {}, warnings: [] };
  if (membersTouched(quirks).size === 0) return patches;
  for (const member of quirks.rejects ?? []) {
    if (members[member] === undefined) continue;
    patches.members[member] = undefined;
    if (isSaid(members[member])) patches.warnings.push(`\`${member}\` was dropped: the provider does not take it.`);
  }
  for (const [member, value] of Object.entries(quirks.fixed ?? {})) {
    if (!isSaid(members[member]) || members[member] === value) continue;
    patches.members[member] = undefined;
    patches.warnings.push(`\`${member}\` was dropped: the model takes only ${JSON.stringify(value)}.`);
  }
  for (const [from, to] of Object.entries(quirks.renames ?? {})) {
    const value = members[from];
    if (value === undefined) continue;
    patches.members[from] = undefined;
    if (!isSaid(members[to])) patches.members[to] = value;
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

/** Many clients write `null` for a member they leave open. */
function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null;
}
