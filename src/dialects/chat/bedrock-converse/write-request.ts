/** A call of any format as a Converse request; the model and whether it streams stand in the address. */
import type { ChatCall, Message } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Quirks, Written } from '../../dialect.ts';
import { adjustMembers } from '../../shared/adjust-members.ts';
import { foreignMembers } from '../../shared/foreign-members.ts';
import { WrittenBody, writtenFor } from '../../shared/outgoing-body.ts';
import { quirksOf } from '../../shared/quirks.ts';
import { completionAsTurn, completionLosses } from '../completion-turn.ts';
import { type ModelTraits, traitsOf } from './model-traits.ts';
import { BEDROCK_CONVERSE } from './name.ts';
import { type Thinking, writeThinking } from './thinking.ts';
import { writeMessages } from './write-messages.ts';
import { PartWriter } from './write-parts.ts';
import { writeTools } from './write-tools.ts';

export function writeCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const losses = new Set<string>(lossesOf(call));
  const body = new WrittenBody(bodyOf(call, traitsOf(model), losses));
  for (const warning of adjustMembers(body, quirksOf(quirks, model))) losses.add(warning);
  return writtenFor(call, body, [...losses]);
}

function bodyOf(call: ChatCall, traits: ModelTraits, losses: Set<string>): JsonObject {
  const parts = new PartWriter(traits, losses);
  // The order in which cache points count is the provider's: tools, instructions, turns.
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
  const said = Object.entries(members).filter((member): member is [string, JsonObject] => member[1] !== undefined);
  return { ...Object.fromEntries(said), ...extras };
}

function messagesOf({ completion, messages }: ChatCall): readonly Message[] {
  const prompt = completion?.prompts[0];
  if (!completion || prompt === undefined) return messages;
  return [{ role: 'user', parts: [{ type: 'text', text: completionAsTurn(prompt, completion.suffix) }] }];
}

/** What this format has no word for at all. */
function lossesOf(call: ChatCall): string[] {
  const { sampling, completion } = call;
  const losses = completion ? completionLosses(completion) : [];
  const drop = (member: string, isSaid: unknown) => {
    if (isSaid) losses.push(`\`${member}\` was dropped: the model does not know it.`);
  };
  drop('presence_penalty', sampling.presencePenalty);
  drop('frequency_penalty', sampling.frequencyPenalty);
  drop('seed', sampling.seed !== undefined);
  drop('logit_bias', sampling.logitBias && Object.keys(sampling.logitBias).length > 0);
  drop('logprobs', sampling.logprobs);
  drop('verbosity', call.verbosity);
  drop('image', call.image);
  drop('user', call.user);
  drop('prompt_cache_key', call.cacheKey);
  if (call.modalities?.some((modality) => modality !== 'text')) {
    losses.push('`modalities` were dropped: the model answers in text.');
  }
  for (const { dialect, names } of foreignMembers(call, BEDROCK_CONVERSE)) {
    losses.push(
      `\`${names.join('`, `')}\` of ${dialect} had no counterpart and ${names.length > 1 ? 'were' : 'was'} dropped.`,
    );
  }
  return losses;
}

type Inference = { [member in 'maxTokens' | 'temperature' | 'topP' | 'stopSequences']: Json | undefined };

/** Members of `inferenceConfig`, and those that only the model's family knows (`fields`). */
function samplingOf(
  { sampling, maxOutputTokens }: ChatCall,
  traits: ModelTraits,
  thinking: Thinking,
  losses: Set<string>,
): Inference & { fields: JsonObject } {
  const stop = (sampling.stop ?? []).filter((sequence) => sequence.trim() !== '');
  if (stop.length < (sampling.stop?.length ?? 0))
    losses.add('A stop sequence of blanks was dropped: the model takes none.');
  let { temperature } = sampling;
  if (temperature !== undefined && temperature > 1) {
    losses.add('`temperature` was lowered to 1: the model goes no higher.');
    temperature = 1;
  }
  const inference: Inference = {
    maxTokens: thinking.maxTokens ?? maxOutputTokens,
    temperature,
    topP: sampling.topP,
    stopSequences: stop.length > 0 ? stop : undefined,
  };
  for (const member of thinking.excludes) {
    if (inference[member] !== undefined && inference[member] !== 1)
      losses.add(`\`${member}\` was dropped: the model does not take it while it thinks so hard.`);
    inference[member] = undefined;
  }
  return { ...inference, fields: topKOf(sampling.topK, traits, losses) };
}

function topKOf(topK: number | undefined, { topK: place }: ModelTraits, losses: Set<string>): JsonObject {
  if (topK === undefined) return {};
  if (place === 'inferenceConfig') return { inferenceConfig: { topK } };
  if (place !== undefined) return { [place]: topK };
  losses.add('`top_k` was dropped: the model does not know it.');
  return {};
}

const METADATA = /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/;
const MAX_METADATA = 16;

/** The provider keeps it with its records of calls, and takes short plain texts alone. */
function metadataOf({ metadata }: ChatCall, losses: Set<string>): JsonObject | undefined {
  const entries = Object.entries(metadata ?? {});
  const taken = entries.filter(
    ([name, value]) => METADATA.test(name) && typeof value === 'string' && METADATA.test(value),
  );
  if (taken.length < entries.length || taken.length > MAX_METADATA)
    losses.add('Some of the `metadata` was dropped: the model takes a few short plain texts.');
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
      losses.add('`service_tier` was dropped: the model knows "default", "flex" and "priority".');
      return undefined;
  }
}

/** Without what was left open; nothing where nothing is left. */
function filled(members: { [member: string]: Json | undefined }): JsonObject | undefined {
  const said = Object.entries(members).filter((member): member is [string, Json] => member[1] !== undefined);
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}
