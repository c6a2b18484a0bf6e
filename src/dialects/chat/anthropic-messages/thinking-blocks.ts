/** Thinking and its proofs as blocks: signatures, hidden thinking, and the seals of other formats on their way through a client. */
import type { ReasoningPart, Seal } from '../../../canonical/call.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { type CarriedSeal, carriedSeal, carrySeal } from '../carried-signature.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';

// A `thinking` block may be signed and empty too: hidden thinking needs a mark of its own.
const HIDDEN = 'hidden:';

/** What a carried seal belongs to where it is not a tool call: the text before it. */
export const OF_TEXT = 'text';

export function isOwn(seal: Seal | undefined): seal is Seal {
  return seal?.dialect === ANTHROPIC_MESSAGES;
}

/** The seal in a `thinking` block's signature; an empty one proves nothing. */
export function readSignature(signature: string): Seal | undefined {
  if (signature === '') return undefined;
  return carriedSeal(signature)?.seal ?? { dialect: ANTHROPIC_MESSAGES, value: signature };
}

/** What of a `thinking` block's text proves it. */
export function writeSignature(seal: Seal | undefined): string {
  if (!seal) return '';
  return isOwn(seal) ? seal.value : carrySeal(seal);
}

/** The seal in a `redacted_thinking` block, and the part it belongs to where that is another one. */
export function readHidden(data: string): CarriedSeal {
  return carriedSeal(data) ?? { seal: { dialect: ANTHROPIC_MESSAGES, value: HIDDEN + data } };
}

/** A block that does nothing but carry the seal of a part that has no room for one. */
export function sealCarrier(seal: Seal, of: string): JsonObject {
  return { type: 'redacted_thinking', data: carrySeal(seal, of) };
}

/** Thinking as its own provider takes it back: only with that provider's own proof. */
export function provenThinking({ text, seal }: ReasoningPart): JsonObject | undefined {
  return isOwn(seal) ? shownThinking(text, seal) : undefined;
}

/** Thinking as a client sees it and hands it back: with any proof, or none. */
export function shownThinking(text: string, seal: Seal | undefined): JsonObject | undefined {
  if (isOwn(seal) && seal.value.startsWith(HIDDEN)) {
    return { type: 'redacted_thinking', data: seal.value.slice(HIDDEN.length) };
  }
  if (text === '' && !isOwn(seal)) return seal && { type: 'redacted_thinking', data: carrySeal(seal) };
  return { type: 'thinking', thinking: text, signature: writeSignature(seal) };
}
