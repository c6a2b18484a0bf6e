/** Writes a call as a generateContent request. The model is part of the URL. */

import type { ChatCall, Message } from '../../../canonical/call.ts';
import { entryOf } from '../../../canonical/entry-of.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Written } from '../../dialect.ts';
import { adjust } from '../../shared/adjust.ts';
import { OwnBody, WrittenBody, writtenFor } from '../../shared/outgoing-body.ts';
import { type ModelQuirks, type Quirks, quirksOf } from '../../shared/quirks.ts';
import { GEMINI } from '../names.ts';
import { completionAsTurn, completionLosses } from '../request/completion-turn.ts';
import { reportUnsupported } from '../request/losses.ts';
import { traitsOf } from './model-traits.ts';
import { writeTools } from './tools.ts';
import { writeConfig } from './write-config.ts';
import { writeContents } from './write-contents.ts';

export function writeCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const known = quirksOf(quirks, model);
  const losses = new Set<string>();
  const body = new WrittenBody(bodyOf(call, model, known, losses));
  adjust(body, call, model, known, losses);
  return writtenFor(call, body, [...losses]);
}

/** The client's own body. The model is part of the URL. */
export function passCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const body = new OwnBody(call.origin.body);
  const losses = new Set<string>();
  adjust(body, call, model, quirks, losses);
  return { body: body.encode(), warnings: [...losses] };
}

function bodyOf(call: ChatCall, model: string, quirks: ModelQuirks, losses: Set<string>): JsonObject {
  addLosses(call, losses);
  const { systemInstruction, contents } = writeContents(messagesOf(call), traitsOf(model), losses);
  const { tools, toolConfig } = writeTools(call, model, quirks, losses);
  const generationConfig = writeConfig(call, model, quirks, losses);
  const serviceTier = tierOf(call, losses);
  const body: JsonObject = {
    ...(systemInstruction && { systemInstruction }),
    contents: contents.map(({ role, parts }) => ({ role, parts })),
    ...(tools !== undefined && { tools }),
    ...(toolConfig && { toolConfig }),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    ...(serviceTier !== undefined && { serviceTier }),
  };
  return withExtras(body, call.extras[GEMINI] ?? {}, losses);
}

function messagesOf({ completion, messages }: ChatCall): readonly Message[] {
  const prompt = completion?.prompts[0];
  if (!completion || prompt === undefined) return messages;
  return [{ role: 'user', parts: [{ type: 'text', text: completionAsTurn(prompt, completion.suffix) }] }];
}

/**
 * Adds members that only this format has. Those of a single part (`contents[0]…`) have lost their place and are
 * reported.
 */
function withExtras(body: JsonObject, extras: JsonObject, losses: Set<string>): JsonObject {
  const merged = body;
  for (const [member, value] of Object.entries(extras)) {
    if (member.startsWith('contents['))
      losses.add(`\`${member}\` was dropped: it belongs to a part of the original request.`);
    else merged[member] = mergedValue(merged[member], value);
  }
  return merged;
}

function mergedValue(had: Json | undefined, value: Json): Json {
  if (!isObject(had) || !isObject(value)) return value;
  const merged: JsonObject = { ...had };
  for (const [member, inner] of Object.entries(value)) merged[member] = mergedValue(had[member], inner);
  return merged;
}

/** Reports what this format cannot express at all. */
function addLosses(call: ChatCall, losses: Set<string>): void {
  const { sampling, completion } = call;
  for (const loss of completion ? completionLosses(completion) : []) losses.add(loss);
  const drop = (member: string, isSet: unknown) => {
    if (isSet) losses.add(`\`${member}\` was dropped: the model does not know it.`);
  };
  drop('logit_bias', sampling.logitBias && Object.keys(sampling.logitBias).length > 0);
  drop('verbosity', call.verbosity);
  drop('metadata', call.metadata && Object.keys(call.metadata).length > 0);
  drop('user', call.user);
  drop('prompt_cache_key', call.cacheKey);
  reportUnsupported(call, GEMINI, losses);
}

const TIERS: { readonly [tier: string]: string } = { default: 'standard', flex: 'flex', priority: 'priority' };

function tierOf({ serviceTier, origin }: ChatCall, losses: Set<string>): string | undefined {
  if (serviceTier === undefined || serviceTier === 'auto') return undefined;
  const tier = entryOf(TIERS, serviceTier) ?? (origin.dialect === GEMINI ? serviceTier : undefined);
  if (tier === undefined)
    losses.add('`service_tier` was dropped: the model supports "default", "flex" and "priority".');
  return tier;
}
