/** What to change in a chat client's own body for a vendor of the same format; everything else stays byte for byte. */
import type { ChatCall, Part } from '../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import { carriedSeal } from '../carried-seal.ts';
import type { Patches, Quirks } from '../dialect.ts';
import { pickMembers } from '../json.ts';
import { memberPatches, membersTouched, quirksOf } from '../quirks.ts';
import { callIds } from './call-ids.ts';
import { OPENAI_CHAT } from './name.ts';
import { schemaHint, streamOptions, writeOutput } from './write-call.ts';
import { dropRejected, thinkingContent } from './write-message.ts';

const NOTHING: readonly string[] = [];

export function patches(call: ChatCall, model: string, quirks: Quirks): Patches {
  const known = quirksOf(quirks, model);
  const found = quirkPatches(call, known);
  const { members } = found;
  if (model !== call.model) members.model = model;
  const options = call.wantsUsage ? undefined : streamOptions(call, known);
  if (options) members.stream_options = options;
  if (call.output && known.structuredOutput !== undefined) members.response_format = writeOutput(call.output, known);
  if (!needsOtherMessages(call, known)) return found;
  const warnings = new Set(found.warnings);
  const messages = otherMessages(call, known, warnings);
  if (messages) members.messages = messages;
  return { members, warnings: [...warnings] };
}

/** The vendor's refusals and renames among the members the client did write. */
function quirkPatches(call: ChatCall, quirks: Quirks): Patches {
  const names = membersTouched(quirks);
  if (names.size === 0) return { members: {}, warnings: [] };
  const members = pickMembers(call.origin.body, names);
  // A vendor that always sends usage loses nothing by not being asked.
  if (quirks.streamUsage === 'always' && isObject(members.stream_options)) {
    const { members: patched, warnings } = memberPatches({ ...members, stream_options: null }, quirks);
    return { members: patched, warnings };
  }
  return memberPatches(members, quirks);
}

/** Whether the messages hold what this vendor does not take as it stands. Bodies are large: mostly they are not looked at again. */
function needsOtherMessages(call: ChatCall, quirks: Quirks): boolean {
  if (call.output && schemaHint(call.output, quirks, new Set())) return true;
  const { messageRejects: rejects = NOTHING } = quirks;
  const id = quirks.toolCallIds === 'nine-alphanumeric' ? callIds(quirks) : undefined;
  for (const message of call.messages) {
    if (message.originRole === 'developer' && quirks.developerRole === 'system') return true;
    if (message.name !== undefined && rejects.includes('name')) return true;
    if (message.role === 'assistant' && rejects.length > 0) return true;
    for (const part of message.parts) if (isForeign(part, quirks) || (id && hasOtherId(part, id))) return true;
  }
  return false;
}

function isForeign(part: Part, quirks: Quirks): boolean {
  if (part.type === 'reasoning' && quirks.reasoningField !== undefined) return true;
  return 'seal' in part && part.seal !== undefined && part.seal.dialect !== OPENAI_CHAT;
}

function hasOtherId(part: Part, id: (id: string) => string): boolean {
  if (part.type === 'tool-call') return id(part.id) !== part.id;
  return part.type === 'tool-result' && id(part.callId) !== part.callId;
}

/** The client's own messages, unknown members and all, as the vendor takes them. */
function otherMessages(call: ChatCall, quirks: Quirks, warnings: Set<string>): Json[] | undefined {
  const { messages } = pickMembers(call.origin.body, new Set(['messages']));
  if (!Array.isArray(messages)) return undefined;
  const id = callIds(quirks);
  for (const message of messages) {
    if (!isObject(message)) continue;
    if (message.role === 'developer' && quirks.developerRole === 'system') message.role = 'system';
    dropForeignProofs(message);
    if (message.role === 'assistant') moveThoughts(message, quirks);
    dropRejected(message, quirks, warnings);
    if (quirks.toolCallIds !== 'nine-alphanumeric') continue;
    if (typeof message.tool_call_id === 'string') message.tool_call_id = id(message.tool_call_id);
    for (const one of Array.isArray(message.tool_calls) ? message.tool_calls : []) {
      if (isObject(one) && typeof one.id === 'string') one.id = id(one.id);
    }
  }
  const hint = call.output && schemaHint(call.output, quirks, warnings);
  return hint ? [...messages, hint] : messages;
}

/** A proof that another vendor gave and that came here through the client stays here. */
function dropForeignProofs(message: JsonObject): void {
  if (Array.isArray(message.reasoning_details)) {
    const own = message.reasoning_details.filter(
      (detail) => !isObject(detail) || !isCarried(detail.signature ?? detail.data),
    );
    if (own.length > 0) message.reasoning_details = own;
    else delete message.reasoning_details;
  }
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  for (const carrier of [message, ...calls]) {
    if (!isObject(carrier) || !isObject(carrier.extra_content)) continue;
    const { google } = carrier.extra_content;
    if (isObject(google) && isCarried(google.thought_signature)) delete carrier.extra_content;
  }
}

function isCarried(proof: Json | undefined): boolean {
  return typeof proof === 'string' && carriedSeal(proof) !== undefined;
}

/** Thoughts under the member in which this vendor takes them back. */
function moveThoughts(message: JsonObject, { reasoningField: field }: Quirks): void {
  if (field === undefined) return;
  const { reasoning_content: content, reasoning, reasoning_details: details } = message;
  const text = [content, reasoning].find((one) => typeof one === 'string' && one !== '');
  if (text === undefined) return;
  if (field !== 'reasoning_content') delete message.reasoning_content;
  if (field !== 'reasoning') delete message.reasoning;
  switch (field) {
    case 'reasoning_content':
    case 'reasoning':
      message[field] = text;
      return;
    case 'reasoning_details':
      message.reasoning_details = details ?? [{ type: 'reasoning.text', text, index: 0 }];
      return;
    case 'thinking-parts':
      message.content = thinkingContent(String(text), message.content ?? null);
      return;
    case 'none':
      delete message.reasoning_details;
      return;
    default:
      field satisfies never;
  }
}
