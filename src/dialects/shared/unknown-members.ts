/** Finds nested members of a client's body that `Call` has no field for. Used only when the body is translated. */
import { entryOf } from '../../canonical/entry-of.ts';
import { isObject, type Json } from '../../canonical/json.ts';

/**
 * What a format's reader understands of a value: everything; each item of a list; the named members; or an object by
 * its `type`.
 */
export type KnownMembers =
  | 'all'
  | { readonly each: KnownMembers }
  | { readonly members: { readonly [member: string]: KnownMembers } }
  /** Like `members`, but members that are not named are understood completely. */
  | { readonly deeper: { readonly [member: string]: KnownMembers } }
  /** Objects of another type are kept whole; the writer that cannot express them reports them. */
  | { readonly types: { readonly [type: string]: KnownMembers }; readonly otherwise?: string };

/** An object of which only these members are understood. */
export function only(...members: string[]): { members: { [member: string]: KnownMembers } } {
  return { members: Object.fromEntries(members.map((member) => [member, 'all'])) };
}

/** The paths of all unknown members, without repetition: `messages[].content[].caller`. */
export function unknownMembers(value: Json, known: KnownMembers): string[] {
  const found = new Set<string>();
  look(value, known, '', found);
  return [...found];
}

function look(value: Json | undefined, known: KnownMembers, path: string, found: Set<string>): void {
  if (known === 'all' || value === undefined || value === null || typeof value !== 'object') return;
  if ('each' in known) {
    if (!Array.isArray(value)) return;
    const at = `${path}[]`;
    for (const item of value) look(item, known.each, at, found);
    return;
  }
  if (!isObject(value)) return;
  if ('types' in known) {
    const type = typeof value.type === 'string' ? value.type : (known.otherwise ?? '');
    look(value, entryOf(known.types, type) ?? 'all', path, found);
    return;
  }
  if ('deeper' in known) {
    for (const member in known.deeper) look(value[member], known.deeper[member] ?? 'all', under(path, member), found);
    return;
  }
  for (const member in value) {
    const inner = value[member];
    if (inner === null || inner === undefined) continue;
    const knownInner = entryOf(known.members, member);
    if (knownInner === 'all' || (knownInner && typeof inner !== 'object')) continue;
    const at = under(path, member);
    if (knownInner) look(inner, knownInner, at, found);
    else found.add(at);
  }
}

function under(path: string, member: string): string {
  return path === '' ? member : `${path}.${member}`;
}
