/** Reads the input items of a request as conversation turns. */
import type { Message, Part, ReasoningPart, ToolResultPart } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { wrong } from '../../shared/request-body.ts';
import type { CarriedSignature } from '../carried-signature.ts';
import { OPENAI_RESPONSES } from '../names.ts';
import { optionalText, requiredText } from '../request/media-parts.ts';
import { COMPACTION, compactedTurn } from './conversation/compaction-item.ts';
import { nameWithGroup } from './namespaces.ts';
import { readContent } from './read-parts.ts';
import { memberSignature, OF_TEXT, readEncrypted } from './signatures.ts';

/** The output of one model run is one turn: reasoning, texts and tool calls, in order. */
export function readInput(input: Json | undefined): ReadInput {
  if (typeof input === 'string') {
    const item: JsonObject = { role: 'user', content: input };
    return { messages: [{ role: 'user', parts: [{ type: 'text', text: input }] }], items: [item], references: [] };
  }
  const messages: Message[] = [];
  const items: JsonObject[] = [];
  const references: string[] = [];
  const known = new Map<string, JsonObject>();
  let compacted: string | undefined;
  (Array.isArray(input) ? input : []).forEach((item, index) => {
    const path = `input[${index}]`;
    if (!isObject(item)) throw wrong(path, 'must be an object');
    items.push(item);
    if (!isReference(item)) {
      if (typeof item.id === 'string') known.set(item.id, item);
      if (item.type === COMPACTION && !compactedTurn(item)) compacted ??= path;
      readItem(item, path, messages);
      return;
    }
    const id = requiredText(item, 'id', path);
    const found = known.get(id);
    if (found) readItem(found, path, messages);
    else references.push(id);
  });
  return { messages, items, references, ...(compacted !== undefined && { compacted }) };
}

export interface ReadInput {
  messages: Message[];
  items: JsonObject[];
  /** Ids of items that the request itself does not contain. */
  references: string[];
  /** The path of the first compaction item that only its provider can read. */
  compacted?: string;
}

/** Whether the item only references an earlier one by id. Its type may be omitted. */
export function isReference({ type, id, role }: JsonObject): boolean {
  return (
    type === 'item_reference' || ((type === undefined || type === null) && role === undefined && typeof id === 'string')
  );
}

function readItem(item: JsonObject, path: string, messages: Message[]): void {
  const type = item.type ?? 'message';
  switch (type) {
    case 'message':
      readMessage(item, path, messages);
      return;
    case 'reasoning':
      readReasoning(item, path, messages);
      return;
    case 'function_call':
    case 'custom_tool_call': {
      const custom = type === 'custom_tool_call';
      const signature = memberSignature(item);
      const group = optionalText(item, 'namespace', path);
      assistantParts(messages).push({
        type: 'tool-call',
        id: requiredText(item, 'call_id', path),
        name: nameWithGroup(group, requiredText(item, 'name', path)),
        input: optionalText(item, custom ? 'input' : 'arguments', path) ?? '',
        ...(custom && { custom }),
        ...(group !== undefined && { group }),
        ...(signature && { signature }),
      });
      return;
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const result: ToolResultPart = {
        type: 'tool-result',
        callId: requiredText(item, 'call_id', path),
        parts: readContent(item.output, `${path}.output`),
        failed: false,
        ...(type === 'custom_tool_call_output' && { custom: true }),
      };
      messages.push({ role: 'tool', parts: [result] });
      return;
    }
    case COMPACTION: {
      const turn = compactedTurn(item);
      if (turn) messages.push(turn);
      else readProviderItem(item, type, messages);
      return;
    }
    default:
      if (typeof type !== 'string') throw wrong(`${path}.type`, 'must be a string');
      readProviderItem(item, type, messages);
  }
}

function readMessage(item: JsonObject, path: string, messages: Message[]): void {
  const parts = readContent(item.content, `${path}.content`);
  switch (item.role) {
    case 'user':
    case 'system':
      messages.push({ role: item.role, parts });
      return;
    case 'developer':
      messages.push({ role: 'system', originRole: 'developer', parts });
      return;
    case 'assistant': {
      const signature = memberSignature(item);
      if (signature) for (const part of parts) if (part.type === 'text') part.signature = signature;
      assistantParts(messages).push(...parts);
      return;
    }
    default:
      throw wrong(`${path}.role`, 'must be one of `user`, `assistant`, `system`, `developer`');
  }
}

function readReasoning(item: JsonObject, path: string, messages: Message[]): void {
  const id = optionalText(item, 'id', path);
  const carried = readEncrypted(item.encrypted_content, id);
  if (carried?.of !== undefined) {
    attach(carried, messages);
    return;
  }
  const content = thoughtsIn(item.content);
  const text = content || thoughtsIn(item.summary);
  const signature = carried?.signature ?? (id === undefined ? undefined : { dialect: OPENAI_RESPONSES, value: '', id });
  const part: ReasoningPart = { type: 'reasoning', text };
  if (signature) part.signature = signature;
  if (content === '' && text !== '') part.summary = true;
  assistantParts(messages).push(part);
}

/** The text of a reasoning item's `summary` or `content`. */
export function thoughtsIn(list: Json | undefined): string {
  if (!Array.isArray(list)) return '';
  return list.flatMap((one) => (isObject(one) && typeof one.text === 'string' ? one.text : [])).join('\n\n');
}

/** Attaches a signature that was carried in an item of its own to its part. */
function attach({ signature, of }: CarriedSignature, messages: readonly Message[]): void {
  const belongs = (part: Part) => (of === OF_TEXT ? part.type === 'text' : part.type === 'tool-call' && part.id === of);
  const part = messages
    .findLast(({ role, parts }) => role === 'assistant' && parts.some(belongs))
    ?.parts.findLast(belongs);
  if (part?.type === 'text' || part?.type === 'tool-call') part.signature = signature;
}

const HANDED_IN = /_(output|response)$/;

/** Adds an item that only this format has to the turn of its author. */
function readProviderItem(item: JsonObject, type: string, messages: Message[]): void {
  const part: Part = { type: 'native', dialect: OPENAI_RESPONSES, item };
  // Its tools are read together with the request's.
  if (type === 'additional_tools') part.isReadElsewhere = true;
  if (item.role === 'user' || item.role === 'system') messages.push({ role: item.role, parts: [part] });
  else if (item.role === 'developer') messages.push({ role: 'system', originRole: 'developer', parts: [part] });
  else if (HANDED_IN.test(type)) messages.push({ role: 'tool', parts: [part] });
  else assistantParts(messages).push(part);
}

function assistantParts(messages: Message[]): Part[] {
  const last = messages.at(-1);
  if (last?.role === 'assistant') return last.parts;
  const parts: Part[] = [];
  messages.push({ role: 'assistant', parts });
  return parts;
}
