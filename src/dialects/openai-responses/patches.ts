/** What to change in a client's own body for a vendor of the same format; everything else stays byte for byte. */
import type { ChatCall, Part } from '../../canonical/call.ts';
import { isObject, type Json } from '../../canonical/json.ts';
import { carriedSeal } from '../carried-seal.ts';
import type { Patches, Quirks } from '../dialect.ts';
import { pickMembers } from '../json.ts';
import { memberPatches, quirksOf } from '../quirks.ts';
import { isOwn } from './seals.ts';

export function patches(call: ChatCall, model: string, quirks: Quirks): Patches {
  const known = quirksOf(quirks, model);
  const { rejects = [], fixed = {}, renames = {} } = known;
  const names = new Set([...rejects, ...Object.keys(fixed), ...Object.entries(renames).flat()]);
  const found =
    names.size === 0 ? { members: {}, warnings: [] } : memberPatches(pickMembers(call.origin.body, names), known);
  const members: Patches['members'] = { ...found.members };
  const warnings = [...found.warnings];
  if (model !== call.model) members.model = model;
  if (call.messages.some(({ parts }) => parts.some(hasForeignSeal))) {
    members.input = withoutForeignSeals(call.origin.body);
    warnings.push('Earlier thinking was left out: the model takes back only thinking it has sealed itself.');
  }
  return { members, warnings };
}

function hasForeignSeal(part: Part): boolean {
  return 'seal' in part && part.seal !== undefined && !isOwn(part.seal);
}

/** A proof that another vendor gave and that came here through the client stays here. */
function withoutForeignSeals(body: Uint8Array): Json | undefined {
  const { input } = pickMembers(body, new Set(['input']));
  if (!Array.isArray(input)) return input;
  return input.filter(
    (item) => !isObject(item) || typeof item.encrypted_content !== 'string' || !carriedSeal(item.encrypted_content),
  );
}
