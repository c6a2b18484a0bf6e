/** Writes messages as contents: roles alternate, and the first is the user's. */
import type { Message, Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart } from '../../../canonical/call.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { isObject } from '../../../canonical/json.ts';
import { parsedJson } from '../../shared/json-values.ts';
import { GEMINI } from '../names.ts';
import { wrapFreeText } from '../request/free-text.ts';
import type { GeminiModelTraits } from './model-traits.ts';
import { ownSignature, SKIP_VALIDATION } from './parts/signature.ts';
import { writeMedia } from './parts/write-media.ts';
import { argsOf } from './parts/write-parts.ts';
import { legalToolName } from './tool-names.ts';

interface GeminiContent {
  role: 'user' | 'model';
  parts: JsonObject[];
}

export interface WrittenContents {
  systemInstruction?: { parts: JsonObject[] };
  contents: GeminiContent[];
}

/** What the parts need to know of their conversation. */
interface GeminiWriteOptions {
  traits: GeminiModelTraits;
  /** Tool names by call id. */
  names: ReadonlyMap<string, string>;
  losses: Set<string>;
}

const OPENING = 'Please continue the conversation.';

export function writeContents(
  messages: readonly Message[],
  traits: GeminiModelTraits,
  losses: Set<string>,
): WrittenContents {
  const conversation: GeminiWriteOptions = { traits, names: namesOf(messages), losses };
  const firstTurn = messages.findIndex((message) => message.role !== 'system');
  const leading = firstTurn < 0 ? messages.length : firstTurn;
  const system = messages.slice(0, leading).flatMap((message, index) => writeSystem(message, index, conversation));
  const contents: GeminiContent[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.name !== undefined) losses.add('`name` of a message was dropped: the model does not know it.');
    if (index < leading) continue;
    const role = message.role === 'assistant' ? 'model' : 'user';
    const parts = writeMessage(message, index, conversation);
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) contents.push({ role, parts });
  }
  for (const content of contents) arrange(content, traits);
  return openedByUser(contents, system, losses);
}

/** The provider rejects a conversation that does not begin with a user turn. */
function openedByUser(contents: GeminiContent[], system: JsonObject[], losses: Set<string>): WrittenContents {
  if (contents.length === 0 && system.length > 0) {
    losses.add('The instructions were sent as a user turn: the model requires one.');
    return { contents: [{ role: 'user', parts: system }] };
  }
  if (contents[0]?.role === 'model') {
    losses.add("A user turn was added before the assistant's first turn: the model requires one.");
    contents.unshift({ role: 'user', parts: [{ text: OPENING }] });
  }
  return { ...(system.length > 0 && { systemInstruction: { parts: system } }), contents };
}

function namesOf(messages: readonly Message[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { parts } of messages) {
    for (const part of parts) if (part.type === 'tool-call') names.set(part.id, part.name);
  }
  return names;
}

/**
 * Function responses come first, because they answer the turn before. The first call of a step carries the step's
 * signature.
 */
function arrange(content: GeminiContent, traits: GeminiModelTraits): void {
  if (content.role === 'user') {
    const results = content.parts.filter((part) => part.functionResponse !== undefined);
    if (results.length > 0) content.parts = [...results, ...content.parts.filter((part) => !results.includes(part))];
    return;
  }
  const first = content.parts.find((part) => part.functionCall !== undefined);
  if (first && traits.wantsSignatures) first.thoughtSignature ??= SKIP_VALIDATION;
}

function writeSystem(message: Message, index: number, conversation: GeminiWriteOptions): JsonObject[] {
  return writeParts(message.parts, `messages[${index}]`, conversation);
}

function writeMessage(message: Message, index: number, conversation: GeminiWriteOptions): JsonObject[] {
  const parts = writeParts(message.parts, `messages[${index}]`, conversation);
  if (message.role !== 'system') return parts;
  conversation.losses.add(
    "Instructions in the middle of the conversation were sent in the user's turn, marked as such.",
  );
  return parts.map((part) => (typeof part.text === 'string' ? { text: `<system>\n${part.text}\n</system>` } : part));
}

function writeParts(parts: readonly Part[], at: string, conversation: GeminiWriteOptions): JsonObject[] {
  return parts.flatMap((part, index) => writePart(part, `${at}.content[${index}]`, conversation));
}

function writePart(part: Part, at: string, conversation: GeminiWriteOptions): JsonObject[] {
  const { losses } = conversation;
  if ('cache' in part && part.cache) losses.add('Cache marks were dropped: the model caches on its own.');
  switch (part.type) {
    case 'text':
      return writeText(part, losses);
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }];
    case 'media':
      return [{ ...writeMedia(part.media, at, losses), ...ownSignature(part.signature) }];
    case 'reasoning':
      return writeThought(part, losses);
    case 'tool-call':
      return [writeCall(part, losses)];
    case 'tool-result':
      return writeResult(part, at, conversation);
    case 'native':
      if (part.dialect === GEMINI) return [part.item];
      if (!part.isReadElsewhere) losses.add(`A block that only ${part.dialect} knows was dropped.`);
      return [];
    default:
      return part satisfies never;
  }
}

function writeText({ text, signature, citations }: TextPart, losses: Set<string>): JsonObject[] {
  if (citations && citations.length > 0)
    losses.add('Citations in earlier turns were dropped: the model does not accept them.');
  const signed = ownSignature(signature);
  return text === '' && !signed.thoughtSignature ? [] : [{ text, ...signed }];
}

/** The provider accepts a thought without a signature, but not with another provider's. */
function writeThought({ text, signature }: ReasoningPart, losses: Set<string>): JsonObject[] {
  const signed = ownSignature(signature);
  if (signature && !signed.thoughtSignature) losses.add('Reasoning signatures of another provider were dropped.');
  return text === '' && !signed.thoughtSignature ? [] : [{ text, thought: true, ...signed }];
}

function writeCall({ id, name, input, custom, signature }: ToolCallPart, losses: Set<string>): JsonObject {
  const args = custom ? wrapFreeText(input) : argsOf(input);
  if (!args)
    losses.add('The arguments of an earlier tool call were not a JSON object: they were sent in a member `input`.');
  return { functionCall: { id, name: legalToolName(name), args: args ?? { input } }, ...ownSignature(signature) };
}

function writeResult(result: ToolResultPart, at: string, { traits, names, losses }: GeminiWriteOptions): JsonObject[] {
  const texts: string[] = [];
  const media: JsonObject[] = [];
  for (const [index, part] of result.parts.entries()) {
    if (part.type === 'text' || part.type === 'refusal' || part.type === 'reasoning') texts.push(part.text);
    else if (part.type === 'media') media.push(writeMedia(part.media, `${at}.content[${index}]`, losses));
    else losses.add('A block in a tool result was dropped: the model only reads text and media there.');
  }
  const name = names.get(result.callId) ?? result.name ?? 'tool';
  const isInside = traits.isModern && media.length > 0;
  const functionResponse = {
    id: result.callId,
    name: legalToolName(name),
    response: responseOf(texts, result.failed),
    ...(isInside && { parts: media }),
  };
  if (media.length > 0 && !isInside)
    losses.add('Media in a tool result were sent after it: the model only accepts text in results.');
  return isInside ? [{ functionResponse }] : [{ functionResponse }, ...media];
}

const WRAPPERS: readonly string[] = ['output', 'result', 'error'];

/**
 * An output that is a JSON object becomes the response itself, if it reads back identically. All others are wrapped.
 */
function responseOf(texts: readonly string[], failed: boolean): JsonObject {
  const text = texts.join('\n');
  if (failed) return { error: text };
  if (text === '') return {};
  const value = text.startsWith('{') ? parsedJson(text) : undefined;
  const members = isObject(value) ? Object.keys(value) : [];
  const isWrapper = members.length === 1 && WRAPPERS.includes(members[0] ?? '');
  return isObject(value) && members.length > 0 && !isWrapper && JSON.stringify(value) === text
    ? value
    : { output: text };
}
