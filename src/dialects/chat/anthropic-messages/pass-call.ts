/** A client's own messages request for a provider of the same format; what nobody needs otherwise stays byte for byte. */
import type { ChatCall } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Quirks, Written } from '../../dialect.ts';
import { type OutgoingBody, OwnBody } from '../../shared/outgoing-body.ts';
import { adjustMembers, quirksOf } from '../../shared/quirks.ts';
import { carriedSeal } from '../carried-signature.ts';
import { type ModelTraits, traitsOf } from './model-traits.ts';
import { isOwn } from './thinking-blocks.ts';
import { refusesSampling } from './version.ts';

export function passCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const body = new OwnBody(call.origin.body);
  const traits = traitsOf(model);
  const warnings = adjustMembers(body, quirksOf(quirks, model));
  if (model !== call.model) body.set('model', model);
  dropSampling(call, traits, body, warnings);
  lowerCeiling(call, traits, body, warnings);
  freeThinking(call, traits, body, warnings);
  if (hasForeignSeals(call)) {
    body.set('messages', withoutForeignThinking(body.get('messages') ?? []));
    warnings.push('Earlier thinking was left out: the model takes back only thinking it has signed itself.');
  }
  return { body: body.encode(), warnings };
}

function dropSampling(
  { sampling, headers }: ChatCall,
  traits: ModelTraits,
  body: OutgoingBody,
  warnings: string[],
): void {
  if (traits.sampling !== 'none' && !refusesSampling(headers['anthropic-version'])) return;
  const asked = { temperature: sampling.temperature, top_p: sampling.topP, top_k: sampling.topK };
  for (const [member, value] of Object.entries(asked)) {
    if (value === undefined) continue;
    body.set(member, undefined);
    // 1 is what the model does anyway.
    if (value !== 1) warnings.push(`\`${member}\` was dropped: the model takes no sampling settings.`);
  }
}

/** Libraries that do not know a model ask for more than it writes. */
function lowerCeiling(
  { maxOutputTokens }: ChatCall,
  traits: ModelTraits,
  body: OutgoingBody,
  warnings: string[],
): void {
  const most = traits.maxOutputTokens;
  if (most === undefined || maxOutputTokens === undefined || maxOutputTokens <= most) return;
  body.set('max_tokens', most);
  warnings.push(`The output limit was lowered to ${most}: the model writes no more.`);
}

/** The newest models think by effort alone and refuse a budget. */
function freeThinking({ reasoning }: ChatCall, traits: ModelTraits, body: OutgoingBody, warnings: string[]): void {
  if (traits.thinking !== 'adaptive' || reasoning?.budgetTokens === undefined) return;
  const display = reasoning.summary === 'none' ? 'omitted' : 'summarized';
  body.set('thinking', { type: 'adaptive', display });
  warnings.push('`thinking.budget_tokens` was dropped: the model decides itself how much to think.');
}

/** Thinking of other providers' models, or unsigned, is in the conversation: this one would refuse it. */
function hasForeignSeals({ messages }: ChatCall): boolean {
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.type === 'reasoning' && !isOwn(part.seal)) return true;
      if ((part.type === 'tool-call' || part.type === 'text') && part.seal) return true;
    }
  }
  return false;
}

function withoutForeignThinking(messages: Json): Json {
  if (!Array.isArray(messages)) return messages;
  const cleaned: Json[] = [];
  for (const message of messages) {
    if (!isObject(message) || !Array.isArray(message.content)) {
      cleaned.push(message);
      continue;
    }
    const content = message.content.filter((block) => !isObject(block) || !isForeignThinking(block));
    if (content.length > 0) cleaned.push({ ...message, content });
  }
  return cleaned;
}

function isForeignThinking({ type, signature, data }: JsonObject): boolean {
  if (type === 'thinking')
    return typeof signature !== 'string' || signature === '' || carriedSeal(signature) !== undefined;
  return type === 'redacted_thinking' && typeof data === 'string' && carriedSeal(data) !== undefined;
}
