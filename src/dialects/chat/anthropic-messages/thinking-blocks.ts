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

export function isOwn(seal: ReasoningSignature | undefined): seal is ReasoningSignature {
  return seal?.dialect === ANTHROPIC_MESSAGES;
}

/** The signature of a `thinking` block. An empty one counts as none. */
export function readSignature(signature: string): ReasoningSignature | undefined {
  if (signature === '') return undefined;
  return readCarriedSignature(signature)?.seal ?? { dialect: ANTHROPIC_MESSAGES, value: signature };
}

/** The value of a `thinking` block's `signature`. */
export function writeSignature(seal: ReasoningSignature | undefined): string {
  if (!seal) return '';
  return isOwn(seal) ? seal.value : carrySignature(seal);
}

/** The signature in a `redacted_thinking` block, and the part it belongs to, if that is another one. */
export function readHidden(data: string): CarriedSignature {
  return readCarriedSignature(data) ?? { seal: { dialect: ANTHROPIC_MESSAGES, value: HIDDEN + data } };
}

/** A block that only carries the signature of a part without a member for it. */
export function signatureCarrier(seal: ReasoningSignature, of: string): JsonObject {
  return { type: 'redacted_thinking', data: carrySignature(seal, of) };
}

/** Thinking for the provider: only with the provider's own signature. */
export function provenThinking({ text, seal }: ReasoningPart): JsonObject | undefined {
  return isOwn(seal) ? shownThinking(text, seal) : undefined;
}

/** Thinking for the client, with any signature or none. */
export function shownThinking(text: string, seal: ReasoningSignature | undefined): JsonObject | undefined {
  if (isOwn(seal) && seal.value.startsWith(HIDDEN)) {
    return { type: 'redacted_thinking', data: seal.value.slice(HIDDEN.length) };
  }
  if (text === '' && !isOwn(seal)) return seal && { type: 'redacted_thinking', data: carrySignature(seal) };
  return { type: 'thinking', thinking: text, signature: writeSignature(seal) };
}
