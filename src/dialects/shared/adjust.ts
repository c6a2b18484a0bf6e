/** Applies a provider's quirks to a request. There is one way for the client's own body and one written from the call. */
import type { Call } from '../../canonical/call.ts';
import { isEmpty, type Json, type JsonObject } from '../../canonical/json.ts';
import type { Written } from '../dialect.ts';
import { type OutgoingBody, OwnBody } from './outgoing-body.ts';
import { type ModelQuirks, type Quirks, quirksOf } from './quirks.ts';

/** A change of a request that one format makes. `losses` gets a sentence for each change that the client should know of. */
export type Adjustment<C extends Call> = (
  body: OutgoingBody,
  call: C,
  quirks: ModelQuirks,
  losses: Set<string>,
  model: string,
) => void;

const NONE: readonly never[] = [];

/**
 * Changes the body to what the provider's model accepts: first by the format's own adjustments, in order, then by the quirks about
 * top-level members (`rejects`, `fixed`, `renames`), which mean the same in every format. What needs no change stays byte for byte.
 *
 * @example
 * const body = new OwnBody(call.origin.body);
 * adjust(body, call, 'mistral-large', quirks, losses, ADJUSTMENTS);
 * return { body: body.encode(), warnings: [...losses] };
 */
export function adjust<C extends Call>(
  body: OutgoingBody,
  call: C,
  model: string,
  all: Quirks | ModelQuirks,
  losses: Set<string>,
  adjustments: readonly Adjustment<C>[] = NONE,
): void {
  const quirks = quirksOf(all, model);
  for (const change of adjustments) change(body, call, quirks, losses, model);
  for (const warning of adjustMembers(body, quirks)) losses.add(warning);
}

/** The client's own body for a provider of the same format: its model is named as the provider does, then it is adjusted. */
export function passOwn<C extends Call>(
  call: C,
  model: string,
  quirks: Quirks,
  adjustments?: readonly Adjustment<C>[],
): Written {
  const body = new OwnBody(call.origin.body);
  if (model !== call.model) body.set('model', model);
  const losses = new Set<string>();
  adjust(body, call, model, quirks, losses, adjustments);
  return { body: body.encode(), warnings: [...losses] };
}

/** Members to set, or to remove (`undefined`), and what is reported about that. */
export interface Patches {
  members: { [member: string]: Json | undefined };
  warnings: string[];
}

const touched = new WeakMap<Quirks, ReadonlySet<string>>();

/** Changes the body; returns a sentence for each member that is dropped. */
function adjustMembers(body: OutgoingBody, quirks: Quirks): string[] {
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
export function membersTouched(quirks: Quirks): ReadonlySet<string> {
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
