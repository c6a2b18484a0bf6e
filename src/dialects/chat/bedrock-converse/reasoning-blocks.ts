/** Thinking and its proofs as blocks: signed, or hidden altogether. */
import type { ReasoningPart } from '../../../canonical/call.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { BEDROCK_CONVERSE } from '../names.ts';

// Signed thinking may be empty too: hidden thinking needs a mark of its own.
const HIDDEN = 'hidden:';

/** The seal's value for thinking that its provider does not show. */
export function hiddenSeal(redacted: string): string {
  return HIDDEN + redacted;
}

/** Thinking as its provider takes it back: only with that provider's own proof. */
export function provenThinking({ text, seal }: ReasoningPart): JsonObject | undefined {
  if (seal?.dialect !== BEDROCK_CONVERSE) return undefined;
  if (seal.value.startsWith(HIDDEN)) return { reasoningContent: { redactedContent: seal.value.slice(HIDDEN.length) } };
  return { reasoningContent: { reasoningText: { text, signature: seal.value } } };
}
