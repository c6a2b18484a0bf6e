/** Compaction items of our own: a summary as `encrypted_content`, which any later request hands in again, whoever answers it. */
import type { Message, Seal } from '../../../../canonical/call.ts';
import type { JsonObject } from '../../../../canonical/json.ts';
import { carriedSeal, carrySeal } from '../../carried-signature.ts';

export const COMPACTION = 'compaction';

const PREFACE = 'Summary of the conversation so far, in place of its earlier turns:';

/** Stands where a part came from an item of ours: a provider of this format is not sent that item, but its summary. */
const EXPANDED: Seal = { dialect: COMPACTION, value: '' };

export function writeCompaction(id: string, summary: string): JsonObject {
  return { id, type: COMPACTION, encrypted_content: carrySeal({ dialect: COMPACTION, value: summary }) };
}

/** The summary in an item of ours; `undefined` for every other item, a provider's own compaction included. */
function summaryIn({ type, encrypted_content: content }: JsonObject): string | undefined {
  const carried = type === COMPACTION && typeof content === 'string' ? carriedSeal(content) : undefined;
  return carried?.seal.dialect === COMPACTION ? `${PREFACE}\n\n${carried.seal.value}` : undefined;
}

/** What the item says, as a turn of the user: every format and every model has those. */
export function compactedTurn(item: JsonObject): Message | undefined {
  const text = summaryIn(item);
  return text === undefined ? undefined : { role: 'user', parts: [{ type: 'text', text, seal: EXPANDED }] };
}

/** The same as an item of a request to a provider of this format. */
export function expandedItem(item: JsonObject): JsonObject | undefined {
  const text = summaryIn(item);
  return text === undefined ? undefined : { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}
