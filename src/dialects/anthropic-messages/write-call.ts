/** A call of any format as a messages request. */
import type { ChatCall, Message } from '../../canonical/call.ts';
import type { Json, JsonObject } from '../../canonical/json.ts';
import { isObject } from '../../canonical/json.ts';
import { completionAsTurn, completionLosses } from '../completion-turn.ts';
import type { Quirks, Written } from '../dialect.ts';
import { foreignMembers } from '../foreign-members.ts';
import { memberPatches, patchedMembers, quirksOf } from '../quirks.ts';
import { type ModelTraits, traitsOf } from './model-traits.ts';
import { ANTHROPIC_MESSAGES } from './name.ts';
import { type Thinking, writeThinking } from './thinking.ts';
import { writeMessages } from './write-messages.ts';
import { writeTools } from './write-tools.ts';

const MAX_CACHE_MARKS = 4;
/** Below this the vendor refuses `top_p` while the model thinks. */
const LEAST_THINKING_TOP_P = 0.95;

const encoder = new TextEncoder();

export function writeCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const known = quirksOf(quirks, model);
  const losses = new Set<string>();
  const body = bodyOf(call, model, losses);
  const patches = memberPatches(body, known);
  for (const warning of patches.warnings) losses.add(warning);
  const written = patchedMembers(body, patches.members);
  return { body: encoder.encode(JSON.stringify(written)), warnings: [...losses] };
}

function bodyOf(call: ChatCall, model: string, losses: Set<string>): JsonObject {
  const traits = traitsOf(model);
  for (const loss of lossesOf(call)) losses.add(loss);
  const { thinking, effort, isOn, maxTokens } = writeThinking(call, traits, losses);
  const isForcible = !isOn || traits.thinking === 'adaptive' || traits.thinking === 'either';
  const { tools, toolChoice, format, instruction } = writeTools(call, traits, isForcible, losses);
  const { system, messages } = writeMessages(messagesOf(call), traits, losses);
  if (instruction !== undefined) system.push({ type: 'text', text: instruction });
  const outputConfig = { ...(effort && { effort }), ...(format && { format }) };
  const members: { [member: string]: Json | undefined } = {
    model,
    max_tokens: maxTokens,
    system: system.length > 0 ? system : undefined,
    messages: messages.map(({ role, content }) => ({ role, content })),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: toolChoice,
    thinking,
    output_config: Object.keys(outputConfig).length > 0 ? outputConfig : undefined,
    ...samplingOf(call, traits, isOn, losses),
    metadata: metadataOf(call),
    service_tier: tierOf(call, losses),
    stream: call.stream || undefined,
    ...call.extras[ANTHROPIC_MESSAGES],
  };
  const body: JsonObject = {};
  for (const [member, value] of Object.entries(members)) if (value !== undefined) body[member] = value;
  limitMarks(body, losses);
  return body;
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
  drop('audio', call.audio);
  drop('prompt_cache_key', call.cacheKey);
  if (call.origin.dialect !== ANTHROPIC_MESSAGES) drop('metadata', call.metadata);
  if (call.modalities?.some((modality) => modality !== 'text')) {
    losses.push('`modalities` were dropped: the model answers in text.');
  }
  for (const { dialect, names } of foreignMembers(call, ANTHROPIC_MESSAGES)) {
    losses.push(
      `\`${names.join('`, `')}\` of ${dialect} had no counterpart and ${names.length > 1 ? 'were' : 'was'} dropped.`,
    );
  }
  return losses;
}

function samplingOf(
  { sampling }: ChatCall,
  traits: ModelTraits,
  thinks: Thinking['isOn'],
  losses: Set<string>,
): { [member: string]: Json | undefined } {
  const stop = (sampling.stop ?? []).filter((sequence) => sequence.trim() !== '');
  if (stop.length < (sampling.stop?.length ?? 0))
    losses.add('A stop sequence of blanks was dropped: the model takes none.');
  const stop_sequences = stop.length > 0 ? stop : undefined;
  let { temperature, topP, topK } = sampling;
  const drop = (member: string, why: string) => {
    losses.add(`\`${member}\` was dropped: ${why}.`);
    return undefined;
  };
  if (temperature !== undefined && temperature > 1) {
    losses.add('`temperature` was lowered to 1: the model goes no higher.');
    temperature = 1;
  }
  if (traits.sampling === 'none') {
    const why = 'the model takes no sampling settings';
    // The vendor's own defaults: left out they mean the same.
    if (temperature !== undefined) temperature = temperature === 1 ? undefined : drop('temperature', why);
    if (topP !== undefined) topP = topP === 1 ? undefined : drop('top_p', why);
    if (topK !== undefined) topK = drop('top_k', why);
  } else if (thinks) {
    const why = 'the model does not take it while it thinks';
    if (temperature !== undefined) temperature = temperature === 1 ? undefined : drop('temperature', why);
    if (topP !== undefined && topP < LEAST_THINKING_TOP_P) topP = drop('top_p', why);
    if (topK !== undefined) topK = drop('top_k', why);
  }
  if (traits.sampling === 'one' && temperature !== undefined && topP !== undefined) {
    topP = topP === 1 ? undefined : drop('top_p', 'the model does not take it together with `temperature`');
  }
  return { temperature, top_p: topP, top_k: topK, stop_sequences };
}

function metadataOf({ user, metadata, origin }: ChatCall): JsonObject | undefined {
  const own = origin.dialect === ANTHROPIC_MESSAGES ? metadata : undefined;
  if (user === undefined) return own;
  return { ...own, user_id: user };
}

const TIERS: { readonly [tier: string]: string } = { auto: 'auto', default: 'standard_only' };

function tierOf({ serviceTier }: ChatCall, losses: Set<string>): string | undefined {
  if (serviceTier === undefined) return undefined;
  const tier = TIERS[serviceTier];
  if (tier === undefined) losses.add('`service_tier` was dropped: the model knows "auto" and "default" alone.');
  return tier;
}

/** The vendor takes four marks; the last ones cover the most. */
function limitMarks(body: JsonObject, losses: Set<string>): void {
  const marked: JsonObject[] = [];
  const collect = (value: Json | undefined) => {
    if (Array.isArray(value)) value.forEach(collect);
    else if (isObject(value)) {
      if (value.cache_control) marked.push(value);
      collect(value.content);
    }
  };
  collect(body.tools);
  collect(body.system);
  collect(body.messages);
  const surplus = marked.length + (body.cache_control ? 1 : 0) - MAX_CACHE_MARKS;
  if (surplus <= 0) return;
  for (const block of marked.slice(0, surplus)) delete block.cache_control;
  losses.add(`Of the cache marks the last ${MAX_CACHE_MARKS} were kept: the model takes no more.`);
}
