/**
 * Adjusts a chat request to the provider's quirks, both the client's own body and one written from the call. In a client's own body members
 * that need no change stay byte for byte.
 */
import type { ChatCall, Part, Tool } from '../../../canonical/call.ts';
import { isEmpty, isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { isTextOnly } from '../../../canonical/text-only.ts';
import type { Written } from '../../dialect.ts';
import { type Adjustment, adjust, membersTouched } from '../../shared/adjust.ts';
import { type OutgoingBody, OwnBody } from '../../shared/outgoing-body.ts';
import { type ModelQuirks, type Quirks, quirksOf } from '../../shared/quirks.ts';
import { replaceOnly } from '../../wire/json.ts';
import { readCarriedSignature } from '../carried-signature.ts';
import { OPENAI_CHAT } from '../names.ts';
import { freeTextSchema, wrapFreeText } from '../request/free-text.ts';
import { callIds } from './call-ids.ts';
import { schemaHint, writeOutput } from './write-output.ts';

const NOTHING: readonly string[] = [];

/** What a chat request needs before its top-level members are adjusted. */
export const ADJUSTMENTS: readonly Adjustment<ChatCall>[] = [
  adjustStreamOptions,
  adjustOutput,
  wrapTools,
  adjustMessages,
  markPrefix,
];

/** The last message is continued instead of answered. */
function markPrefix(body: OutgoingBody, call: ChatCall, quirks: ModelQuirks): void {
  if (!call.isPrefilled || quirks.supportsPrefill === 'last') return;
  const messages = body.get('messages');
  const last = Array.isArray(messages) ? messages.at(-1) : undefined;
  if (!Array.isArray(messages) || !isObject(last)) return;
  body.set('messages', [...messages.slice(0, -1), { ...last, prefix: true }]);
}

/** Usage is requested even if the client does not want to see it, because it is what the call is charged by. */
function adjustStreamOptions(body: OutgoingBody, { stream, wantsUsage }: ChatCall, quirks: ModelQuirks): void {
  if (!stream) return;
  const asks = quirks.streamUsage === 'ask';
  const options = body.get('stream_options');
  if (asks && wantsUsage && isObject(options) && options.include_usage === true) return;
  const { include_usage: _, ...others } = isObject(options) ? options : {};
  if (asks) body.set('stream_options', { ...others, include_usage: true });
  else body.set('stream_options', isEmpty(others) ? undefined : others);
}

function adjustOutput(body: OutgoingBody, { output }: ChatCall, quirks: ModelQuirks): void {
  if (output && quirks.supportsStructuredOutput !== undefined) body.set('response_format', writeOutput(output, quirks));
}

/** Whether the call has tools with free-text input, in this request or in its history. */
function hasFreeText({ tools, messages }: ChatCall): boolean {
  for (const tool of tools) if (tool.type === 'custom') return true;
  for (const { parts } of messages) for (const part of parts) if (part.type === 'tool-call' && part.custom) return true;
  return false;
}

type FreeTextTool = Extract<Tool, { type: 'custom' }>;

/** Sends tools that take free text as functions with one text, and changes the tool choice to match. */
function wrapTools(body: OutgoingBody, call: ChatCall, quirks: ModelQuirks, warnings: Set<string>): void {
  if (quirks.supportsFreeTextTools || isTextOnly(call) || !hasFreeText(call)) return;
  const byName = new Map<Json | undefined, FreeTextTool>();
  for (const tool of call.tools) if (tool.type === 'custom') byName.set(tool.name, tool);
  const tools = body.get('tools');
  if (Array.isArray(tools))
    body.set(
      'tools',
      tools.map((item) => wrapTool(item, byName, warnings)),
    );
  const choice = body.get('tool_choice');
  if (isObject(choice)) body.set('tool_choice', wrapChoice(choice));
}

function wrapTool(item: Json, byName: ReadonlyMap<Json | undefined, FreeTextTool>, warnings: Set<string>): Json {
  if (!isObject(item) || item.type !== 'custom' || !isObject(item.custom)) return item;
  const tool = byName.get(item.custom.name);
  if (!tool) return item;
  warnings.add(
    `The tool \`${tool.name}\` takes free text: it was sent as a function, because the model has no such tools.`,
  );
  const { type: _, custom: __, ...others } = item;
  const { name, description } = tool;
  const parameters = freeTextSchema(tool);
  return {
    ...others,
    type: 'function',
    function: { name, ...(description !== undefined && { description }), parameters },
  };
}

/** `{custom: {name}}`, alone or in `allowed_tools`. */
function wrapChoice(choice: JsonObject): JsonObject {
  const { type, custom, allowed_tools: allowed } = choice;
  if (type === 'custom' && isObject(custom)) return { type: 'function', function: { name: custom.name ?? '' } };
  if (!isObject(allowed) || !Array.isArray(allowed.tools)) return choice;
  const tools = allowed.tools.map((tool) => (isObject(tool) ? wrapChoice(tool) : tool));
  return { ...choice, allowed_tools: { ...allowed, tools } };
}

/** Whether any message must be changed. Bodies are large, and most need not be parsed again. */
function needsOtherMessages(call: ChatCall, quirks: ModelQuirks): boolean {
  if (call.output && schemaHint(call.output, quirks, new Set())) return true;
  if (isTextOnly(call)) return false;
  const { rejectsInMessages: rejects = NOTHING } = quirks;
  const id = quirks.requiresToolCallIds === 'nine-alphanumeric' ? callIds(quirks) : undefined;
  for (const message of call.messages) {
    if (message.originRole === 'developer' && !quirks.supportsDeveloperRole) return true;
    if (message.name !== undefined && rejects.includes('name')) return true;
    if (message.role === 'assistant' && rejects.length > 0) return true;
    for (const part of message.parts) if (isForeign(part, quirks) || (id && hasOtherId(part, id))) return true;
  }
  return false;
}

function isForeign(part: Part, { reasoningField, supportsFreeTextTools }: ModelQuirks): boolean {
  if (part.type === 'reasoning') return reasoningField !== undefined;
  return part.type === 'tool-call' && part.custom === true && !supportsFreeTextTools;
}

function hasOtherId(part: Part, id: (id: string) => string): boolean {
  if (part.type === 'tool-call') return id(part.id) !== part.id;
  return part.type === 'tool-result' && id(part.callId) !== part.callId;
}

function adjustMessages(body: OutgoingBody, call: ChatCall, quirks: ModelQuirks, warnings: Set<string>): void {
  if (!needsOtherMessages(call, quirks)) return;
  const messages = body.get('messages');
  if (!Array.isArray(messages)) return;
  for (const message of messages) if (isObject(message)) adjustMessage(message, quirks, warnings);
  const hint = call.output && schemaHint(call.output, quirks, warnings);
  body.set('messages', hint ? [...messages, hint] : messages);
}

function adjustMessage(message: JsonObject, quirks: ModelQuirks, warnings: Set<string>): void {
  if (message.role === 'developer' && !quirks.supportsDeveloperRole) message.role = 'system';
  if (message.role === 'assistant') moveReasoning(message, quirks);
  dropRejected(message, quirks, warnings);
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : [];
  if (!quirks.supportsFreeTextTools) for (const call of calls) wrapCall(call);
  if (quirks.requiresToolCallIds !== 'nine-alphanumeric') return;
  const id = callIds(quirks);
  if (typeof message.tool_call_id === 'string') message.tool_call_id = id(message.tool_call_id);
  for (const call of calls) if (typeof call.id === 'string') call.id = id(call.id);
}

function wrapCall(call: JsonObject): void {
  const { type, custom } = call;
  if (type !== 'custom' || !isObject(custom)) return;
  delete call.custom;
  call.type = 'function';
  call.function = { name: custom.name ?? '', arguments: JSON.stringify(wrapFreeText(String(custom.input ?? ''))) };
}

/** Removes the members of a message that the provider refuses. */
function dropRejected(message: JsonObject, quirks: ModelQuirks, warnings: Set<string>): void {
  for (const member of quirks.rejectsInMessages ?? NOTHING) {
    const value = message[member];
    if (value === undefined) continue;
    delete message[member];
    // No warning for reasoning: the client cannot do anything about it.
    if (value !== null && !member.startsWith('reasoning')) {
      warnings.add(`\`${member}\` of messages was dropped: the provider does not take it.`);
    }
  }
}

/** Moves reasoning to the member where this provider takes it. */
function moveReasoning(message: JsonObject, { reasoningField: field }: ModelQuirks): void {
  if (field === undefined) return;
  const { reasoning_content: content, reasoning, reasoning_details: details } = message;
  if (field === 'none') delete message.reasoning_details;
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
      return;
    default:
      field satisfies never;
  }
}

/** Mistral's content with the reasoning before it. */
function thinkingContent(text: string, content: Json): Json {
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text }] };
  if (Array.isArray(content)) return [thinking, ...content];
  return content === null || content === '' ? [thinking] : [thinking, { type: 'text', text: content }];
}

/**
 * Whether the model wants its earlier reasoning back. If the provider has its own member for reasoning, its models reason. With other providers a model reasons only if the
 * call asks for it.
 */
export function wantsSignatures({ reasoning }: ChatCall, model: string, quirks: Quirks): boolean {
  const { reasoningField } = quirksOf(quirks, model);
  if (reasoningField === 'none') return false;
  return reasoningField !== undefined || (reasoning !== undefined && reasoning.effort !== 'none');
}

export function passCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const renamed = withModelAlone(call, model, quirks);
  if (renamed) return { body: renamed, warnings: NOTHING };
  const body = new OwnBody(call.origin.body);
  const warnings = new Set<string>();
  if (model !== call.model) body.set('model', model);
  if (!isTextOnly(call) && hasForeignSignatures(call)) {
    const messages = body.get('messages');
    for (const message of Array.isArray(messages) ? messages : []) if (isObject(message)) dropOtherSignatures(message);
    body.set('messages', messages);
  }
  adjust(body, call, model, quirks, warnings, ADJUSTMENTS);
  return { body: body.encode(), warnings: warnings.size > 0 ? [...warnings] : NOTHING };
}

/** The body with the target's name of the model, where nothing else of it can need a change. */
function withModelAlone(call: ChatCall, model: string, quirks: Quirks): Uint8Array | undefined {
  if (call.stream || call.output || call.isPrefilled || !isTextOnly(call)) return undefined;
  if (membersTouched(quirksOf(quirks, model)).size > 0) return undefined;
  return replaceOnly(call.origin.body, 'model', model);
}

function hasForeignSignatures({ messages }: ChatCall): boolean {
  for (const { parts } of messages)
    for (const part of parts)
      if ('signature' in part && part.signature !== undefined && part.signature.dialect !== OPENAI_CHAT) return true;
  return false;
}

/** Removes reasoning signatures of other providers that the client sent back. */
function dropOtherSignatures(message: JsonObject): void {
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

function isCarried(encoded: Json | undefined): boolean {
  return typeof encoded === 'string' && readCarriedSignature(encoded) !== undefined;
}
