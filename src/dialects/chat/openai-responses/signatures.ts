/**
 * Reads and writes reasoning signatures in this format: `encrypted_content` of reasoning items, and members of messages
 * and calls that the provider wants back.
 */
import type { ReasoningSignature } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { type CarriedSignature, carrySignature, readCarriedSignature } from '../carried-signature.ts';
import { OPENAI_RESPONSES } from '../names.ts';

/** The owner of a carried signature that does not belong to a tool call: the text before it. */
export const OF_TEXT = 'text';

/**
 * `owner`: the provider that is asked. If it is unknown, every signature of this format without an owner is accepted.
 */
export function isOwn(signature: ReasoningSignature | undefined, owner?: string): signature is ReasoningSignature {
  return signature?.dialect === OPENAI_RESPONSES && (signature.owner === undefined || signature.owner === owner);
}

const MEMBERS = ['phase', 'namespace'];

/** Members of a message or call that improve the provider's answer when they are sent back. */
export function memberSignature(item: JsonObject): ReasoningSignature | undefined {
  const members: JsonObject = {};
  for (const member of MEMBERS) if (typeof item[member] === 'string') members[member] = item[member];
  if (Object.keys(members).length === 0) return undefined;
  return { dialect: OPENAI_RESPONSES, value: JSON.stringify(members) };
}

/** The members in a text's or call's signature of this format. */
export function signedMembers(signature: ReasoningSignature | undefined): JsonObject {
  if (!isOwn(signature)) return {};
  try {
    const members: unknown = JSON.parse(signature.value);
    return isObject(members) ? members : {};
  } catch {
    return {};
  }
}

/** The signature in a reasoning item, of this format or carried for another. An empty one counts as none. */
export function readEncrypted(content: Json | undefined, id?: string): CarriedSignature | undefined {
  if (typeof content !== 'string' || content === '') return undefined;
  const named = id === undefined ? {} : { id };
  return readCarriedSignature(content) ?? { signature: { dialect: OPENAI_RESPONSES, value: content, ...named } };
}

export function writeEncrypted(signature: ReasoningSignature, of?: string): string {
  return isOwn(signature) ? signature.value : carrySignature(signature, of);
}

/**
 * A stored reasoning item for its signature owner, with the original signature. `undefined` if another provider owns
 * it. Other items are returned unchanged.
 */
export function unwrapped(item: JsonObject, owner: string | undefined): JsonObject | undefined {
  const { encrypted_content: content, ...rest } = item;
  const carried = typeof content === 'string' ? readCarriedSignature(content) : undefined;
  if (!carried) return item;
  const { signature } = carried;
  if (!isOwn(signature, owner)) return undefined;
  return signature.value === '' ? rest : { ...rest, encrypted_content: signature.value };
}

/** Marks the owner of a reasoning item whose signature only that provider accepts. */
export function wrapped(item: JsonObject, owner: string): JsonObject {
  const { encrypted_content: content, id } = item;
  if (item.type !== 'reasoning' || (typeof content === 'string' && readCarriedSignature(content))) return item;
  const value = typeof content === 'string' ? content : '';
  const signature: ReasoningSignature = {
    dialect: OPENAI_RESPONSES,
    value,
    owner,
    ...(typeof id === 'string' && { id }),
  };
  return { ...item, encrypted_content: carrySignature(signature) };
}
