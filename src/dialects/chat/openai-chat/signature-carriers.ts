/**
 * Reads and writes reasoning signatures in this format: `reasoning_details` for reasoning, `extra_content` for tool
 * calls and texts.
 */
import type { ReasoningPart, ReasoningSignature } from '../../../canonical/call.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import { textOf } from '../../shared/json-values.ts';
import { carrySignature, readCarriedSignature } from '../carried-signature.ts';
import { OPENAI_CHAT } from '../names.ts';

/** Keeps members that providers of this format want back unchanged. */
export function chatSignature(members: JsonObject): ReasoningSignature {
  return { dialect: OPENAI_CHAT, value: JSON.stringify(members) };
}

/**
 * The members in a signature of this format. `undefined` if the signature is another format's, or a client changed it.
 */
export function ownMembers(signature: ReasoningSignature): JsonObject | undefined {
  if (signature.dialect !== OPENAI_CHAT) return undefined;
  try {
    const members: unknown = JSON.parse(signature.value);
    return isObject(members) ? members : undefined;
  } catch {
    return undefined;
  }
}

/** A reasoning signature as members of the message. `text` is the reasoning, `index` its position in the list. */
export function writeReasoningSignature(signature: ReasoningSignature, text: string, index: number): JsonObject {
  const own = ownMembers(signature);
  if (own) return own;
  const wrapped = carrySignature(signature);
  const detail =
    text === ''
      ? { type: 'reasoning.encrypted', data: wrapped, format: MARK, index }
      : { type: 'reasoning.text', text, signature: wrapped, format: MARK, index };
  return { reasoning_details: [detail] };
}

/** The signature of a tool call or text as members of it. Clients are known to send Google's member back. */
export function writePartSignature(signature: ReasoningSignature): JsonObject {
  return ownMembers(signature) ?? { extra_content: { google: { thought_signature: carrySignature(signature) } } };
}

/** Reads the signature in the `extra_content` of a tool call or message. */
export function readPartSignature(carrier: JsonObject): ReasoningSignature | undefined {
  const { extra_content } = carrier;
  if (!isObject(extra_content)) return undefined;
  const google = extra_content.google;
  const signature = isObject(google) ? google.thought_signature : undefined;
  return (
    (typeof signature === 'string' ? readCarriedSignature(signature)?.signature : undefined) ??
    chatSignature({ extra_content })
  );
}

/** Reads the reasoning of an assistant message, in any of the members that clients use. */
export function readThoughts(message: JsonObject): ReasoningPart[] {
  const details = Array.isArray(message.reasoning_details) ? message.reasoning_details.filter(isObject) : [];
  const blocks = Array.isArray(message.thinking_blocks) ? message.thinking_blocks.filter(isObject) : [];
  const parts: ReasoningPart[] = [];
  const own: JsonObject[] = [];
  for (const detail of details) {
    const encoded = textOf(detail.signature) || textOf(detail.data);
    const signature = encoded === '' ? undefined : readCarriedSignature(encoded)?.signature;
    if (signature) parts.push({ type: 'reasoning', text: textOf(detail.text), signature });
    else own.push(detail);
  }
  if (own.length > 0) {
    const text = own.map((detail) => textOf(detail.text) + textOf(detail.summary)).join('');
    parts.push({ type: 'reasoning', text, signature: chatSignature({ reasoning_details: own }) });
  }
  if (blocks.length > 0) {
    const text = blocks.map((block) => textOf(block.thinking)).join('');
    parts.push({ type: 'reasoning', text, signature: chatSignature({ thinking_blocks: blocks }) });
  }
  const text = textOf(message.reasoning_content) || textOf(message.reasoning);
  if (text !== '' && parts.every((part) => part.text === '')) {
    const [first] = parts;
    if (first) first.text = text;
    else parts.push({ type: 'reasoning', text });
  }
  return parts;
}

const MARK = 'modelport';
