/** Writes a call as a Converse request. Model and streaming are part of the URL. */

import type { ChatCall } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Written } from '../../dialect.ts';
import { adjust } from '../../shared/adjust.ts';
import { WrittenBody, writtenFor } from '../../shared/outgoing-body.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { BEDROCK_CONVERSE } from '../names.ts';
import { messagesOf } from '../request/completion-turn.ts';
import { reportUnknownSettings, reportUnsupported, stopsOf, temperatureOf, unknown } from '../request/losses.ts';
import { type ConverseModelTraits, traitsOf } from './model-traits.ts';
import { type ConverseThinking, writeThinking } from './thinking.ts';
import { writeTools } from './tools.ts';
import { writeMessages } from './write-messages.ts';
import { PartWriter } from './write-parts.ts';

export function writeCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const losses = new Set<string>();
  noteLosses(call, losses);
  const body = new WrittenBody(bodyOf(call, traitsOf(model), losses));
  adjust(body, call, model, quirks, losses);
  return writtenFor(call, body, [...losses]);
}

function bodyOf(call: ChatCall, traits: ConverseModelTraits, losses: Set<string>): JsonObject {
  const parts = new PartWriter(traits, losses);
  // The provider counts cache points in this order: tools, system prompt, messages.
  const { toolConfig, textFormat, instructions } = writeTools(call, traits, parts, losses);
  const { system, messages } = writeMessages(messagesOf(call), parts, losses);
  system.push(...instructions.map((text) => ({ text })));
  const thinking = writeThinking(call, traits, losses);
  const { fields, ...inference } = samplingOf(call, traits, thinking, losses);
  const { additionalModelRequestFields: own, ...extras } = call.extras[BEDROCK_CONVERSE] ?? {};
  const additional = { ...thinking.fields, ...fields, ...(isObject(own) && own) };
  const members: { [member: string]: JsonObject | JsonObject[] | undefined } = {
    messages: messages.map(({ role, content }) => ({ role, content })),
    system: system.length > 0 ? system : undefined,
    inferenceConfig: filled(inference),
    toolConfig,
    outputConfig: textFormat && { textFormat },
    additionalModelRequestFields: filled(additional),
    requestMetadata: metadataOf(call, losses),
    serviceTier: tierOf(call, losses),
  };
  const present = Object.entries(members).filter((member): member is [string, JsonObject] => member[1] !== undefined);
  return { ...Object.fromEntries(present), ...extras };
}

/** Reports what this format cannot express at all. */
function noteLosses(call: ChatCall, losses: Set<string>): void {
  reportUnknownSettings(call, losses);
  if (call.user) losses.add(unknown('user'));
  if (call.cacheKey) losses.add(unknown('prompt_cache_key'));
  reportUnsupported(call, BEDROCK_CONVERSE, losses);
}

type Inference = { [member in 'maxTokens' | 'temperature' | 'topP' | 'stopSequences']: Json | undefined };

/** Members of `inferenceConfig`, and those of the model's family (`fields`). */
function samplingOf(
  call: ChatCall,
  traits: ConverseModelTraits,
  thinking: ConverseThinking,
  losses: Set<string>,
): Inference & { fields: JsonObject } {
  const { sampling, maxOutputTokens } = call;
  const stop = stopsOf(call, losses);
  const inference: Inference = {
    maxTokens: thinking.maxTokens ?? maxOutputTokens,
    temperature: temperatureOf(call, losses),
    topP: sampling.topP,
    stopSequences: stop.length > 0 ? stop : undefined,
  };
  for (const member of thinking.excludes) {
    if (inference[member] !== undefined && inference[member] !== 1)
      losses.add(`\`${member}\` was dropped: the model does not accept it with this reasoning effort.`);
    inference[member] = undefined;
  }
  return { ...inference, fields: topKOf(sampling.topK, traits, losses) };
}

function topKOf(topK: number | undefined, { topK: place }: ConverseModelTraits, losses: Set<string>): JsonObject {
  if (topK === undefined) return {};
  if (place === 'inferenceConfig') return { inferenceConfig: { topK } };
  if (place !== undefined) return { [place]: topK };
  losses.add('`top_k` was dropped: the model does not know it.');
  return {};
}

const METADATA = /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/;
const MAX_METADATA = 16;

/** The provider stores metadata with its call logs. It accepts short plain texts only. */
function metadataOf({ metadata }: ChatCall, losses: Set<string>): JsonObject | undefined {
  const entries = Object.entries(metadata ?? {});
  const taken = entries.filter(
    ([name, value]) => METADATA.test(name) && typeof value === 'string' && METADATA.test(value),
  );
  if (taken.length < entries.length || taken.length > MAX_METADATA)
    losses.add('Some of the `metadata` was dropped: the provider accepts at most 16 short texts.');
  return filled(Object.fromEntries(taken.slice(0, MAX_METADATA)));
}

function tierOf({ serviceTier }: ChatCall, losses: Set<string>): JsonObject | undefined {
  switch (serviceTier) {
    case undefined:
    case 'auto':
      return undefined;
    case 'default':
    case 'flex':
    case 'priority':
      return { type: serviceTier };
    default:
      losses.add('`service_tier` was dropped: the model supports "default", "flex" and "priority".');
      return undefined;
  }
}

/** Removes `undefined` members. Returns `undefined` if none remain. */
function filled(members: { [member: string]: Json | undefined }): JsonObject | undefined {
  const present = Object.entries(members).filter((member): member is [string, Json] => member[1] !== undefined);
  return present.length > 0 ? Object.fromEntries(present) : undefined;
}
