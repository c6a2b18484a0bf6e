/** Proofs in a part: the provider's own, and those of other formats on their way through a client. */
import type { Seal } from '../../../../canonical/call.ts';
import type { Json } from '../../../../canonical/json.ts';
import { carriedSeal, carrySeal } from '../../carried-signature.ts';
import { GEMINI } from '../../names.ts';

/** The provider takes it for the proof of a call that its model did not make. */
export const SKIP_VALIDATION = 'skip_thought_signature_validator';
const NO_PROOFS: readonly string[] = [SKIP_VALIDATION, 'context_engineering_is_the_way_to_go', ''];

export function readSignature(signature: Json | undefined): Seal | undefined {
  if (typeof signature !== 'string' || NO_PROOFS.includes(signature)) return undefined;
  return carriedSeal(signature)?.seal ?? { dialect: GEMINI, value: signature };
}

/** For a client, who hands back whatever it got. */
export function carriedSignature(seal: Seal | undefined): { thoughtSignature?: string } {
  if (!seal) return {};
  return { thoughtSignature: seal.dialect === GEMINI ? seal.value : carrySeal(seal) };
}

/** For the provider, who takes back only its own. */
export function ownSignature(seal: Seal | undefined): { thoughtSignature?: string } {
  return seal?.dialect === GEMINI ? { thoughtSignature: seal.value } : {};
}
