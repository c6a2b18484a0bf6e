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
const NO_PROOFS: readonly string[] = [SKIP_VALIDATION, 'context_engineering_is_the_way_to_go', ''];

export function readSignature(signature: Json | undefined): ReasoningSignature | undefined {
  if (typeof signature !== 'string' || NO_PROOFS.includes(signature)) return undefined;
  return readCarriedSignature(signature)?.seal ?? { dialect: GEMINI, value: signature };
}

/** A signature for the client, which sends it back unchanged. */
export function carriedSignature(seal: ReasoningSignature | undefined): { thoughtSignature?: string } {
  if (!seal) return {};
  return { thoughtSignature: seal.dialect === GEMINI ? seal.value : carrySignature(seal) };
}

/** A signature for the provider, which accepts only its own. */
export function ownSignature(seal: ReasoningSignature | undefined): { thoughtSignature?: string } {
  return seal?.dialect === GEMINI ? { thoughtSignature: seal.value } : {};
}
