/** What to change in a client's own body for a vendor of the same format; everything else stays byte for byte. */
import type { ChatCall, Part } from '../../canonical/call.ts';
import { isObject, type Json } from '../../canonical/json.ts';
import type { Patches, Quirks } from '../dialect.ts';
import { pickMembers } from '../json.ts';
import { memberPatches, quirksOf } from '../quirks.ts';
import { keptHere } from './kept-here.ts';
import { isOwn, unwrapped } from './seals.ts';

export function patches(call: ChatCall, model: string, quirks: Quirks): Patches {
  const known = quirksOf(quirks, model);
  const { rejects = [], fixed = {}, renames = {} } = known;
  const names = new Set([...rejects, ...Object.keys(fixed), ...Object.entries(renames).flat()]);
  const found =
    names.size === 0 ? { members: {}, warnings: [] } : memberPatches(pickMembers(call.origin.body, names), known);
  const members: Patches['members'] = { ...found.members };
  const warnings = [...found.warnings];
  if (model !== call.model) members.model = model;
  Object.assign(members, keptHere(call, model));
  if (call.messages.some(({ parts }) => parts.some(isCarried))) {
    const { input } = pickMembers(call.origin.body, new Set(['input']));
    if (Array.isArray(input)) members.input = withOwnSeals(input, call.thread?.maker, warnings);
  }
  return { members, warnings };
}

/** Its seal came here wrapped: another format's, or one that is of use to its maker alone. */
function isCarried(part: Part): boolean {
  return 'seal' in part && part.seal !== undefined && (!isOwn(part.seal) || part.seal.maker !== undefined);
}

/** A proof that another vendor gave and that came here through the client stays here. */
function withOwnSeals(input: readonly Json[], maker: string | undefined, warnings: string[]): Json[] {
  const kept = input.flatMap((item) => (isObject(item) ? (unwrapped(item, maker) ?? []) : [item]));
  if (kept.length < input.length) {
    warnings.push('Earlier thinking was left out: the model takes back only thinking it has sealed itself.');
  }
  return kept;
}
