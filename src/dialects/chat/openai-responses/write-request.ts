/** Writes a call as a Responses request. */

import type { ChatCall, Message, OutputFormat, Reasoning } from '../../../canonical/call.ts';
import type { Json, JsonMembers, JsonObject } from '../../../canonical/json.ts';
import type { Written } from '../../dialect.ts';
import { adjust } from '../../shared/adjust.ts';
import { objectOf } from '../../shared/json-values.ts';
import { WrittenBody, writtenFor } from '../../shared/outgoing-body.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { pickMembers } from '../../wire/json.ts';
import { OPENAI_RESPONSES } from '../names.ts';
import { CACHE_MARKS_DROPPED, hasCacheMarks } from '../request/cache-marks.ts';
import { completionAsTurn, completionLosses } from '../request/completion-turn.ts';
import { digestOf } from '../request/legal-names.ts';
import { reportUnsupportedEach } from '../request/losses.ts';
import { effortOf } from '../request/reasoning-effort.ts';
import { givesReasoning, INCLUDE_REASONING, keptHere } from './conversation/kept-here.ts';
import { INCLUDE_LOGPROBS, INSTRUCTIONS } from './read-request.ts';
import { writeTools } from './tools.ts';
import { NAME_DROPPED, writeItems } from './write-items.ts';
import type { ResponsesWriteOptions } from './write-parts.ts';

const MIN_OUTPUT_TOKENS = 16;
const MAX_USER_LENGTH = 64;
const SERVICE_TIERS = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast']);
export function writeCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const losses = new Set<string>();
  const isOwn = call.origin.dialect === OPENAI_RESPONSES;
  const extras = call.extras[OPENAI_RESPONSES] ?? {};
  const body = new WrittenBody({
    ...extras,
    model,
    ...writeConversation(call, { isOwn, losses }),
    ...writeTools(call, losses),
    ...(isOwn && { tools: undefined, tool_choice: undefined, ...ownTools(call) }),
    ...writeSampling(call, losses),
    reasoning: writeReasoning(call.reasoning, objectOf(extras.reasoning), isOwn),
    text: writeText(call, objectOf(extras.text)),
    ...writeSettings(call, extras, losses),
    ...(isOwn ? keptHere(call, model) : { store: false, include: writeInclude(call, model) }),
    stream: call.stream || undefined,
  });
  reportUnsupportedEach(call, OPENAI_RESPONSES, losses);
  if (!isOwn && hasCacheMarks(call)) losses.add(CACHE_MARKS_DROPPED);
  adjust(body, call, model, quirks, losses);
  return writtenFor(call, body, [...losses]);
}

/** The client's own tools with members that the canonical form does not have (`defer_loading` and others). */
function ownTools({ origin }: ChatCall): JsonMembers {
  return pickMembers(origin.body, new Set(['tools', 'tool_choice']));
}

function writeConversation(call: ChatCall, script: ResponsesWriteOptions): JsonMembers {
  const { completion } = call;
  if (completion) {
    for (const loss of completionLosses(completion)) script.losses.add(loss);
    return { input: completionAsTurn(completion.prompts[0] ?? '', completion.suffix) };
  }
  const leading = leadingInstructions(call.messages, script.isOwn);
  const items = writeItems(call.messages.slice(leading), script);
  const instructions = call.messages.slice(0, leading).map(textOf);
  if (call.messages.slice(0, leading).some(({ name }) => name !== undefined)) script.losses.add(NAME_DROPPED);
  return {
    instructions: instructions.length > 0 ? instructions.join('\n\n') : undefined,
    input: items.length > 0 || !script.isOwn ? items : undefined,
  };
}

/** How many of the first messages become `instructions`. If the client uses this format: only the one it sent there. */
function leadingInstructions(messages: readonly Message[], isOwn: boolean): number {
  const first = messages.findIndex(
    ({ role, originRole, parts }) =>
      role !== 'system' || (isOwn && originRole !== INSTRUCTIONS) || parts.some((part) => part.type !== 'text'),
  );
  return first < 0 ? messages.length : first;
}

function textOf({ parts }: Message): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n');
}

function writeSampling({ sampling, maxOutputTokens, origin }: ChatCall, losses: Set<string>): JsonMembers {
  const drop = (member: string, isSet: unknown) => {
    if (isSet) losses.add(`\`${member}\` was dropped: this format has no such member.`);
  };
  drop('stop', sampling.stop && sampling.stop.length > 0);
  drop('n', sampling.n !== undefined && sampling.n > 1);
  drop('top_k', sampling.topK !== undefined);
  drop('seed', sampling.seed !== undefined);
  drop('presence_penalty', sampling.presencePenalty);
  drop('frequency_penalty', sampling.frequencyPenalty);
  drop('logit_bias', sampling.logitBias && Object.keys(sampling.logitBias).length > 0);
  const isTooLow = maxOutputTokens !== undefined && maxOutputTokens < MIN_OUTPUT_TOKENS;
  const isRaised = isTooLow && origin.dialect !== OPENAI_RESPONSES;
  if (isRaised) losses.add(`The output limit was raised to ${MIN_OUTPUT_TOKENS} tokens, the model’s minimum.`);
  return {
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_logprobs: sampling.topLogprobs,
    max_output_tokens: isRaised ? MIN_OUTPUT_TOKENS : maxOutputTokens,
  };
}

function writeReasoning(reasoning: Reasoning | undefined, own: JsonObject, isOwn: boolean): JsonObject | undefined {
  const effort = effortOf(reasoning);
  const summary = isOwn ? reasoning?.summary : summaryOf(reasoning);
  const members = { ...own, ...(effort !== undefined && { effort }), ...(summary !== undefined && { summary }) };
  return Object.keys(members).length > 0 ? members : undefined;
}

/** A client that requests thinking with a budget, or adaptively, uses a format that shows the thinking. */
function summaryOf(reasoning: Reasoning | undefined): string | undefined {
  if (!reasoning || reasoning.summary === 'none' || reasoning.effort === 'none') return undefined;
  const isShown = reasoning.adaptive === true || (reasoning.budgetTokens ?? 0) !== 0;
  return reasoning.summary ?? (isShown ? 'auto' : undefined);
}

function writeText(call: ChatCall, own: JsonObject): JsonObject | undefined {
  const format = call.output && writeOutput(call.output);
  const members = { ...own, ...(format && { format }), ...(call.verbosity && { verbosity: call.verbosity }) };
  return Object.keys(members).length > 0 ? members : undefined;
}

function writeOutput(output: OutputFormat): JsonObject {
  if (output.type === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = output;
  return {
    type: 'json_schema',
    name,
    ...(description !== undefined && { description }),
    schema,
    ...(strict !== undefined && { strict }),
  };
}

function writeSettings(call: ChatCall, extras: JsonObject, losses: Set<string>): JsonMembers {
  const isOwn = call.origin.dialect === OPENAI_RESPONSES;
  const { user, serviceTier: tier, metadata } = call;
  const isKnownTier = tier === undefined || isOwn || SERVICE_TIERS.has(tier);
  if (!isKnownTier) losses.add(`The service tier \`${tier}\` was dropped: this format does not know it.`);
  const takesMetadata = isOwn || call.origin.dialect.startsWith('openai-');
  if (metadata && !takesMetadata) losses.add('`metadata` was dropped: it belongs to another format.');
  if (call.image) losses.add('The image settings were dropped: the model’s format has none.');
  if (call.audio || call.modalities?.some((modality) => modality !== 'text')) {
    losses.add('`modalities` were dropped: the model answers in text.');
  }
  return {
    ...(isOwn
      ? { user: user === extras.safety_identifier ? undefined : user }
      : {
          safety_identifier: user === undefined ? undefined : shortUser(user),
          max_tool_calls: searchesHeldFor(call),
        }),
    prompt_cache_key: call.cacheKey,
    service_tier: isKnownTier ? tier : undefined,
    metadata: takesMetadata ? metadata : undefined,
  };
}

function searchesHeldFor({ tools }: ChatCall): number | undefined {
  const search = tools.find((tool) => tool.type === 'web-search');
  return search?.type === 'web-search' ? search.maxUses : undefined;
}

/** The provider limits the length of user names. Some clients send longer ones. */
function shortUser(user: string): string {
  return user.length <= MAX_USER_LENGTH ? user : digestOf(user, 'hex').slice(0, MAX_USER_LENGTH);
}

/** The provider stores nothing, so the reasoning must be returned in the reply. */
function writeInclude({ sampling }: ChatCall, model: string): Json | undefined {
  const include = [
    ...(givesReasoning(model) ? [INCLUDE_REASONING] : []),
    ...(sampling.logprobs ? [INCLUDE_LOGPROBS] : []),
  ];
  return include.length > 0 ? include : undefined;
}
