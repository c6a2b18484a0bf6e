/**
 * Thinking and signatures as blocks: signed thinking, hidden thinking, and signatures of other formats that the client
 * carries.
 */
import type { ReasoningPart, ReasoningSignature } from '../../../canonical/call.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { type CarriedSignature, carrySignature, readCarriedSignature } from '../carried-signature.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';

// A `thinking` block with a signature may also be empty, so hidden thinking needs a prefix of its own.
const HIDDEN = 'hidden:';

/** The owner of a carried signature that does not belong to a tool call: the text before it. */
export const OF_TEXT = 'text';

export function isOwn(signature: ReasoningSignature | undefined): signature is ReasoningSignature {
  return signature?.dialect === ANTHROPIC_MESSAGES;
}

/** The signature of a `thinking` block. An empty one counts as none. */
export function readSignature(signature: string): ReasoningSignature | undefined {
  if (signature === '') return undefined;
  return readCarriedSignature(signature)?.signature ?? { dialect: ANTHROPIC_MESSAGES, value: signature };
}

/** The value of a `thinking` block's `signature`. */
export function writeSignature(signature: ReasoningSignature | undefined): string {
  if (!signature) return '';
  return isOwn(signature) ? signature.value : carrySignature(signature);
}

/** The signature in a `redacted_thinking` block, and the part it belongs to, if that is another one. */
export function readHidden(data: string): CarriedSignature {
  return readCarriedSignature(data) ?? { signature: { dialect: ANTHROPIC_MESSAGES, value: HIDDEN + data } };
}

/** A block that only carries the signature of a part without a member for it. */
export function signatureCarrier(signature: ReasoningSignature, of: string): JsonObject {
  return { type: 'redacted_thinking', data: carrySignature(signature, of) };
}

/** Thinking for the provider: only with the provider's own signature. */
export function signedThinking({ text, signature }: ReasoningPart): JsonObject | undefined {
  return isOwn(signature) ? shownThinking(text, signature) : undefined;
}

/** Thinking for the client, with any signature or none. */
export function shownThinking(text: string, signature: ReasoningSignature | undefined): JsonObject | undefined {
  if (isOwn(signature) && signature.value.startsWith(HIDDEN)) {
    return { type: 'redacted_thinking', data: signature.value.slice(HIDDEN.length) };
  }
  if (text === '' && !isOwn(signature))
    return signature && { type: 'redacted_thinking', data: carrySignature(signature) };
  return { type: 'thinking', thinking: text, signature: writeSignature(signature) };
}
