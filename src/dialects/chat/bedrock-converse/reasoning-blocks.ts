/** Thinking and signatures as blocks: signed or hidden thinking. */
import type { ReasoningPart } from '../../../canonical/call.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { BEDROCK_CONVERSE } from '../names.ts';

// Signed thinking may also be empty, so hidden thinking needs a prefix of its own.
const HIDDEN = 'hidden:';

/** The signature value of hidden thinking. */
export function hiddenSignature(redacted: string): string {
  return HIDDEN + redacted;
}

/** Thinking for the provider: only with the provider's own signature. */
export function signedThinking({ text, signature }: ReasoningPart): JsonObject | undefined {
  if (signature?.dialect !== BEDROCK_CONVERSE) return undefined;
  if (signature.value.startsWith(HIDDEN))
    return { reasoningContent: { redactedContent: signature.value.slice(HIDDEN.length) } };
  return { reasoningContent: { reasoningText: { text, signature: signature.value } } };
}
