/** Members deep in a client's body that a call has no word for: looked for only where the body is translated. */
import { isObject, type Json } from '../../canonical/json.ts';

/** What a format's reader takes from a value: all of it, or the members that are named; `each` of a list; by its `type`. */
export type Known =
  | 'all'
  | { readonly each: Known }
  | { readonly members: { readonly [member: string]: Known } }
  /** As `members`, and what is not named is read whole. */
  | { readonly deeper: { readonly [member: string]: Known } }
  /** What is of another type is kept whole, and reported by whoever cannot say it. */
  | { readonly types: { readonly [type: string]: Known }; readonly otherwise?: string };

/** An object of which these members are read whole. */
export function only(...members: string[]): { members: { [member: string]: Known } } {
  return { members: Object.fromEntries(members.map((member) => [member, 'all'])) };
}

/** `messages[].content[].caller`, once each. */
export function unsaidMembers(value: Json, known: Known): string[] {
  const found = new Set<string>();
  look(value, known, '', found);
  return [...found];
}

function look(value: Json | undefined, known: Known, path: string, found: Set<string>): void {
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
    look(value, known.types[type] ?? 'all', path, found);
    return;
  }
  if ('deeper' in known) {
    for (const member in known.deeper) look(value[member], known.deeper[member] ?? 'all', under(path, member), found);
    return;
  }
  for (const member in value) {
    const inner = value[member];
    if (inner === null || inner === undefined) continue;
    const knownInner = known.members[member];
    if (knownInner === 'all' || (knownInner && typeof inner !== 'object')) continue;
    const at = under(path, member);
    if (knownInner) look(inner, knownInner, at, found);
    else found.add(at);
  }
}

function under(path: string, member: string): string {
  return path === '' ? member : `${path}.${member}`;
}
