/**
 * Arranges a conversation for this format: it begins with the user, roles alternate, tool results follow directly after
 * their calls.
 */
import type { Message } from '../../../canonical/call.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import { alternating, type Links, type Turn, type WrittenConversation } from '../request/turns.ts';
import type { PartWriter } from './write-parts.ts';

const LINKS: Links = {
  call: ({ toolUse }) => (isObject(toolUse) ? toolUse.toolUseId : undefined),
  result: ({ toolResult }) => (isObject(toolResult) ? toolResult.toolUseId : undefined),
};

/** Placeholder text where the provider requires a text. */
const NO_WORDS = { text: '.' };

export function writeMessages(
  messages: readonly Message[],
  parts: PartWriter,
  losses: Set<string>,
): WrittenConversation {
  const firstTurn = messages.findIndex((message) => message.role !== 'system');
  const leading = firstTurn < 0 ? messages : messages.slice(0, firstTurn);
  const following = firstTurn < 0 ? [] : messages.slice(firstTurn);
  const system = leading.flatMap((message) => parts.write(message.parts, 'system'));
  if (messages.some((message) => message.name !== undefined)) {
    losses.add('`name` of a message was dropped: the model does not support it.');
  }
  const turns = following.flatMap((message) => turnsOf(message, parts, losses));
  const joined = alternating(turns, LINKS);
  if (joined[0]?.role !== 'user') joined.unshift({ role: 'user', content: [NO_WORDS] });
  for (const turn of joined) nameDocuments(turn);
  trimLastWords(joined);
  return { system, messages: joined };
}

function turnsOf(message: Message, parts: PartWriter, losses: Set<string>): Turn[] {
  switch (message.role) {
    case 'assistant': {
      const results = message.parts.filter((part) => part.type === 'tool-result');
      const own = message.parts.filter((part) => part.type !== 'tool-result');
      return [
        { role: 'assistant', content: parts.write(own, 'assistant') },
        { role: 'user', content: parts.write(results, 'user') },
      ];
    }
    case 'user':
    case 'tool':
      return [{ role: 'user', content: parts.write(message.parts, 'user') }];
    case 'system':
      losses.add(
        'Instructions in the middle of the conversation were sent as user text: the model has no system turns there.',
      );
      return [{ role: 'user', content: asUserWords(parts.write(message.parts, 'system')) }];
    default:
      return message.role satisfies never;
  }
}

function asUserWords(blocks: JsonObject[]): JsonObject[] {
  return blocks.map((block) =>
    typeof block.text === 'string' ? { text: `<system>\n${block.text}\n</system>` } : block,
  );
}

/** The provider rejects a document without a text beside it. */
function nameDocuments({ content }: Turn): void {
  if (content.some((block) => block.document) && !content.some((block) => block.text)) content.push(NO_WORDS);
}

/** The provider rejects a final assistant turn that ends in white space. */
function trimLastWords(turns: readonly Turn[]): void {
  const turn = turns.at(-1);
  const block = turn?.content.at(-1);
  if (turn?.role !== 'assistant' || typeof block?.text !== 'string') return;
  turn.content[turn.content.length - 1] = { text: block.text.trimEnd() };
}
