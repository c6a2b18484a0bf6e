/** Thought signatures in a part: the provider's own, and those of other formats that the client carries. */
import type { ReasoningSignature } from '../../../../canonical/call.ts';
import type { Json } from '../../../../canonical/json.ts';
import { carrySignature, readCarriedSignature } from '../../carried-signature.ts';
import { GEMINI } from '../../names.ts';

/**
 * The value that the provider accepts instead of a signature, for a call that another model made (Gemini API, "Thought
 * signatures").
 */
export const SKIP_VALIDATION = 'skip_thought_signature_validator';
const NO_SIGNATURES: readonly string[] = [SKIP_VALIDATION, 'context_engineering_is_the_way_to_go', ''];

export function readSignature(signature: Json | undefined): ReasoningSignature | undefined {
  if (typeof signature !== 'string' || NO_SIGNATURES.includes(signature)) return undefined;
  return readCarriedSignature(signature)?.signature ?? { dialect: GEMINI, value: signature };
}

/** A signature for the client, which sends it back unchanged. */
export function carriedSignature(signature: ReasoningSignature | undefined): { thoughtSignature?: string } {
  if (!signature) return {};
  return { thoughtSignature: signature.dialect === GEMINI ? signature.value : carrySignature(signature) };
}

/** A signature for the provider, which accepts only its own. */
export function ownSignature(signature: ReasoningSignature | undefined): { thoughtSignature?: string } {
  return signature?.dialect === GEMINI ? { thoughtSignature: signature.value } : {};
}
