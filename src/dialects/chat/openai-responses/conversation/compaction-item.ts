/**
 * Compaction items of the gateway: a summary as `encrypted_content`. Any later request can send it back, to any
 * provider.
 */
import type { Message, ReasoningSignature } from '../../../../canonical/call.ts';
import type { JsonObject } from '../../../../canonical/json.ts';
import { carrySignature, readCarriedSignature } from '../../carried-signature.ts';

export const COMPACTION = 'compaction';

const PREFACE = 'Summary of the conversation so far, in place of its earlier turns:';

/**
 * Marks a part that was read from a compaction item. A provider of this format receives the summary instead of the
 * item.
 */
const EXPANDED: ReasoningSignature = { dialect: COMPACTION, value: '' };

export function writeCompaction(id: string, summary: string): JsonObject {
  return { id, type: COMPACTION, encrypted_content: carrySignature({ dialect: COMPACTION, value: summary }) };
}

/** The summary in the gateway's own item; `undefined` for all other items, also for a provider's compaction. */
function summaryIn({ type, encrypted_content: content }: JsonObject): string | undefined {
  const carried = type === COMPACTION && typeof content === 'string' ? readCarriedSignature(content) : undefined;
  return carried?.signature.dialect === COMPACTION ? `${PREFACE}\n\n${carried.signature.value}` : undefined;
}

/** The item as a user turn, which every format and model supports. */
export function compactedTurn(item: JsonObject): Message | undefined {
  const text = summaryIn(item);
  return text === undefined ? undefined : { role: 'user', parts: [{ type: 'text', text, signature: EXPANDED }] };
}

/** The item as an input item for a provider of this format. */
export function expandedItem(item: JsonObject): JsonObject | undefined {
  const text = summaryIn(item);
  return text === undefined ? undefined : { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}
