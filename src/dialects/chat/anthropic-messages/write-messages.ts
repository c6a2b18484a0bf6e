/** Arranges a conversation for this format: roles alternate, and all tool results are in the turn after their calls. */
import type { Message } from '../../../canonical/call.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { alternating, type Links, type Turn, type WrittenConversation } from '../request/turns.ts';
import type { MessagesModelTraits } from './model-traits.ts';
import { writeParts } from './write-parts.ts';

const LINKS: Links = {
  call: (block) => (block.type === 'tool_use' ? block.id : undefined),
  result: (block) => (block.type === 'tool_result' ? block.tool_use_id : undefined),
};

/** The user turn of a conversation with instructions only. The provider requires one. */
const NO_WORDS = '.';

export function writeMessages(
  messages: readonly Message[],
  traits: MessagesModelTraits,
  losses: Set<string>,
): WrittenConversation {
  const system: JsonObject[] = [];
  const turns: Turn[] = [];
  let isLeading = true;
  for (const message of messages) {
    if (message.name !== undefined) losses.add('`name` of a message was dropped: the model does not support it.');
    isLeading &&= message.role === 'system';
    if (isLeading) system.push(...writeParts(message.parts, 'system', losses));
    else addTurns(turns, message, traits, losses);
  }
  const joined = alternating(turns, LINKS);
  // The turns before it were empty.
  if (joined[0]?.role === 'system') system.push(...joined.splice(0, 1).flatMap((turn) => turn.content));
  if (!joined.some((turn) => turn.role !== 'system')) {
    losses.add('A user turn was added: the model requires one.');
    joined.unshift({ role: 'user', content: [{ type: 'text', text: NO_WORDS }] });
  }
  trimLastWords(joined);
  return { system, messages: joined };
}

function addTurns(turns: Turn[], message: Message, traits: MessagesModelTraits, losses: Set<string>): void {
  switch (message.role) {
    case 'assistant': {
      const results = message.parts.filter((part) => part.type === 'tool-result');
      const own = message.parts.filter((part) => part.type !== 'tool-result');
      turns.push({ role: 'assistant', content: writeParts(own, 'assistant', losses) });
      turns.push({ role: 'user', content: writeParts(results, 'user', losses) });
      return;
    }
    case 'user':
    case 'tool':
      turns.push({ role: 'user', content: writeParts(message.parts, 'user', losses) });
      return;
    case 'system': {
      const content = writeParts(message.parts, 'system', losses);
      if (traits.systemTurns) turns.push({ role: 'system', content });
      else turns.push({ role: 'user', content: asUserWords(content, losses) });
      return;
    }
    default:
      message.role satisfies never;
  }
}

function asUserWords(blocks: JsonObject[], losses: Set<string>): JsonObject[] {
  if (blocks.length > 0)
    losses.add(
      'Instructions in the middle of the conversation were sent as user text: the model has no system turns there.',
    );
  return blocks.map((block) =>
    block.type === 'text' ? { ...block, text: `<system>\n${String(block.text)}\n</system>` } : block,
  );
}

/** The provider rejects a final assistant turn that ends in white space. */
function trimLastWords(turns: readonly Turn[]): void {
  const turn = turns.at(-1);
  const block = turn?.content.at(-1);
  if (turn?.role !== 'assistant' || block?.type !== 'text') return;
  turn.content[turn.content.length - 1] = { ...block, text: String(block.text).trimEnd() };
}
