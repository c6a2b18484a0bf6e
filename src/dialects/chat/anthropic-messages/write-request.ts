/** Writes a call as a messages request. */

import type { ChatCall } from '../../../canonical/call.ts';
import { entryOf } from '../../../canonical/entry-of.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Written } from '../../dialect.ts';
import { adjust } from '../../shared/adjust.ts';
import { WrittenBody, writtenFor } from '../../shared/outgoing-body.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';
import { messagesOf } from '../request/completion-turn.ts';
import { reportUnknownSettings, reportUnsupported, stopsOf, temperatureOf, unknown } from '../request/losses.ts';
import { ADJUSTMENTS } from './adjust.ts';
import { type MessagesModelTraits, traitsOf } from './model-traits.ts';
import { type MessagesThinking, writeThinking } from './thinking.ts';
import { writeTools } from './tools.ts';
import { writeMessages } from './write-messages.ts';

const MAX_CACHE_MARKS = 4;
/** The lowest `top_p` that the provider accepts together with thinking. */
const LEAST_THINKING_TOP_P = 0.95;

export function writeCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const losses = new Set<string>();
  const body = new WrittenBody(bodyOf(call, model, losses));
  adjust(body, call, model, quirks, losses, ADJUSTMENTS);
  return writtenFor(call, body, [...losses]);
}

function bodyOf(call: ChatCall, model: string, losses: Set<string>): JsonObject {
  const traits = traitsOf(model);
  noteLosses(call, losses);
  const { thinking, effort, isOn, maxTokens } = writeThinking(call, traits, losses);
  const isForcible = !isOn || traits.thinking === 'adaptive' || traits.thinking === 'either';
  const { tools, toolChoice, format, instruction } = writeTools(call, traits, isForcible, losses);
  const { system, messages } = writeMessages(messagesOf(call), traits, losses);
  if (instruction !== undefined) system.push({ type: 'text', text: instruction });
  const body: JsonObject = { model, max_tokens: maxTokens };
  if (system.length > 0) body.system = system;
  body.messages = messages;
  if (tools.length > 0) body.tools = tools;
  if (toolChoice) body.tool_choice = toolChoice;
  if (thinking) body.thinking = thinking;
  if (effort || format) body.output_config = { ...(effort && { effort }), ...(format && { format }) };
  addSampling(body, call, traits, isOn, losses);
  addMember(body, 'metadata', metadataOf(call));
  addMember(body, 'service_tier', tierOf(call, losses));
  if (call.stream) body.stream = true;
  Object.assign(body, call.extras[ANTHROPIC_MESSAGES]);
  limitMarks(body, losses);
  return body;
}

function addMember(body: JsonObject, member: string, value: Json | undefined): void {
  if (value !== undefined) body[member] = value;
}

/** Reports what this format cannot express at all. */
function noteLosses(call: ChatCall, losses: Set<string>): void {
  reportUnknownSettings(call, losses);
  if (call.audio) losses.add(unknown('audio'));
  if (call.cacheKey) losses.add(unknown('prompt_cache_key'));
  if (call.metadata && call.origin.dialect !== ANTHROPIC_MESSAGES) losses.add(unknown('metadata'));
  reportUnsupported(call, ANTHROPIC_MESSAGES, losses);
}

function addSampling(
  body: JsonObject,
  call: ChatCall,
  traits: MessagesModelTraits,
  thinks: MessagesThinking['isOn'],
  losses: Set<string>,
): void {
  let { topP, topK } = call.sampling;
  const stop = stopsOf(call, losses);
  let temperature = temperatureOf(call, losses);
  // For a model without sampling settings, `adjust` drops them.
  if (thinks && traits.sampling !== 'none') {
    const why = 'the model does not accept it while it thinks';
    if (temperature !== undefined) temperature = temperature === 1 ? undefined : dropped('temperature', why, losses);
    if (topP !== undefined && topP < LEAST_THINKING_TOP_P) topP = dropped('top_p', why, losses);
    if (topK !== undefined) topK = dropped('top_k', why, losses);
  }
  if (traits.sampling === 'one' && temperature !== undefined && topP !== undefined) {
    const why = 'the model does not accept it together with `temperature`';
    topP = topP === 1 ? undefined : dropped('top_p', why, losses);
  }
  addMember(body, 'temperature', temperature);
  addMember(body, 'top_p', topP);
  addMember(body, 'top_k', topK);
  if (stop.length > 0) body.stop_sequences = stop;
}

function dropped(member: string, why: string, losses: Set<string>): undefined {
  losses.add(`\`${member}\` was dropped: ${why}.`);
}

function metadataOf({ user, metadata, origin }: ChatCall): JsonObject | undefined {
  const own = origin.dialect === ANTHROPIC_MESSAGES ? metadata : undefined;
  if (user === undefined) return own;
  return { ...own, user_id: user };
}

const TIERS: { readonly [tier: string]: string } = { auto: 'auto', default: 'standard_only' };

function tierOf({ serviceTier }: ChatCall, losses: Set<string>): string | undefined {
  if (serviceTier === undefined) return undefined;
  const tier = entryOf(TIERS, serviceTier);
  if (tier === undefined) losses.add('`service_tier` was dropped: the model supports only "auto" and "default".');
  return tier;
}

/** The provider accepts four cache marks. The last ones cover most of the prompt. */
function limitMarks(body: JsonObject, losses: Set<string>): void {
  const marked: JsonObject[] = [];
  collectMarked(body.tools, marked);
  collectMarked(body.system, marked);
  collectMarked(body.messages, marked);
  const surplus = marked.length + (body.cache_control ? 1 : 0) - MAX_CACHE_MARKS;
  if (surplus <= 0) return;
  for (const block of marked.slice(0, surplus)) delete block.cache_control;
  losses.add(`Of the cache marks the last ${MAX_CACHE_MARKS} were kept: the model accepts no more.`);
}

function collectMarked(value: Json | undefined, marked: JsonObject[]): void {
  if (Array.isArray(value)) for (const item of value) collectMarked(item, marked);
  else if (isObject(value)) {
    if (value.cache_control) marked.push(value);
    collectMarked(value.content, marked);
  }
}
