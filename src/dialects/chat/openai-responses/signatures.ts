/** Where this format carries proofs: `encrypted_content` of reasoning items; members of messages and calls that have to be sent back. */
import type { Seal } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { type CarriedSeal, carriedSeal, carrySeal } from '../carried-signature.ts';
import { OPENAI_RESPONSES } from '../names.ts';

/** What a carried seal belongs to where it is not a tool call: the text before it. */
export const OF_TEXT = 'text';

/** `maker`: who is asked; unknown, every seal of the format may go along that does not say whose it is. */
export function isOwn(seal: Seal | undefined, maker?: string): seal is Seal {
  return seal?.dialect === OPENAI_RESPONSES && (seal.maker === undefined || seal.maker === maker);
}

const MEMBERS = ['phase', 'namespace'];

/** The members of a message or a call without which the provider understands it less well when it comes back. */
export function memberSeal(item: JsonObject): Seal | undefined {
  const members: JsonObject = {};
  for (const member of MEMBERS) if (typeof item[member] === 'string') members[member] = item[member];
  if (Object.keys(members).length === 0) return undefined;
  return { dialect: OPENAI_RESPONSES, value: JSON.stringify(members) };
}

/** The members that an own seal of a text or a call holds. */
export function sealedMembers(seal: Seal | undefined): JsonObject {
  if (!isOwn(seal)) return {};
  try {
    const members: unknown = JSON.parse(seal.value);
    return isObject(members) ? members : {};
  } catch {
    return {};
  }
}

/** The seal in a reasoning item, another format's on its way back too; an empty one proves nothing. */
export function readEncrypted(content: Json | undefined, id?: string): CarriedSeal | undefined {
  if (typeof content !== 'string' || content === '') return undefined;
  const named = id === undefined ? {} : { id };
  return carriedSeal(content) ?? { seal: { dialect: OPENAI_RESPONSES, value: content, ...named } };
}

export function writeEncrypted(seal: Seal, of?: string): string {
  return isOwn(seal) ? seal.value : carrySeal(seal, of);
}

/**
 * A kept reasoning item as its maker takes it back: with the seal as it was, or none. `undefined`: it is another's. Items
 * that are no reasoning, or whose seal nobody has wrapped, are as they are.
 */
export function unwrapped(item: JsonObject, maker: string | undefined): JsonObject | undefined {
  const { encrypted_content: content, ...rest } = item;
  const carried = typeof content === 'string' ? carriedSeal(content) : undefined;
  if (!carried) return item;
  const { seal } = carried;
  if (!isOwn(seal, maker)) return undefined;
  return seal.value === '' ? rest : { ...rest, encrypted_content: seal.value };
}

/** A reasoning item that is of use to its maker alone, so that it is known for one. */
export function wrapped(item: JsonObject, maker: string): JsonObject {
  const { encrypted_content: content, id } = item;
  if (item.type !== 'reasoning' || (typeof content === 'string' && carriedSeal(content))) return item;
  const value = typeof content === 'string' ? content : '';
  const seal: Seal = { dialect: OPENAI_RESPONSES, value, maker, ...(typeof id === 'string' && { id }) };
  return { ...item, encrypted_content: carrySeal(seal) };
}
