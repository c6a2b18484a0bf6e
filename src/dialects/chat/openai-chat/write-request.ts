/** Writes a call as a chat completion request. */

import type { ChatCall, Part } from '../../../canonical/call.ts';
import type { Json, JsonMembers, JsonObject } from '../../../canonical/json.ts';
import { voiceFor } from '../../audio/voices.ts';
import type { Quirks, Written } from '../../dialect.ts';
import { adjust } from '../../shared/adjust.ts';
import { WrittenBody, writtenFor } from '../../shared/outgoing-body.ts';
import { quirksOf } from '../../shared/quirks.ts';
import { OPENAI_CHAT } from '../names.ts';
import { CACHE_MARKS_DROPPED, hasCacheMarks } from '../request/cache-marks.ts';
import { completionAsTurn, completionLosses } from '../request/completion-turn.ts';
import { reportUnsupportedEach } from '../request/losses.ts';
import { effortOf } from '../request/reasoning-effort.ts';
import { ADJUSTMENTS } from './adjust.ts';
import { readReasoning } from './read-request.ts';
import { writeTools } from './tools.ts';
import { writeMessages } from './write-messages.ts';
import { writeOutput } from './write-output.ts';

const SERVICE_TIERS = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast']);

export function writeCall(call: ChatCall, model: string, quirks: Quirks): Written {
  const known = quirksOf(quirks, model);
  const breakpoints = known.supportsCacheBreakpoints === true;
  const warnings = new Set<string>();
  const extras = call.extras[OPENAI_CHAT] ?? {};
  const body = new WrittenBody({
    ...extras,
    model,
    messages: writeConversation(call, breakpoints, warnings),
    ...writeSampling(call, warnings),
    ...writeTools(call, extras, warnings),
    response_format: writeOutput(call.output, {}) ?? extras.response_format,
    ...writeSettings(call, extras, warnings),
    stream: call.stream || undefined,
  });
  reportUnsupportedEach(call, OPENAI_CHAT, warnings);
  if (call.origin.dialect !== OPENAI_CHAT && losesCacheMarks(call, breakpoints)) warnings.add(CACHE_MARKS_DROPPED);
  adjust(body, call, model, known, warnings, ADJUSTMENTS);
  return writtenFor(call, body, [...warnings]);
}

/** Cache breakpoints exist only on message content, not on tools, tool calls and tool results. */
function losesCacheMarks(call: ChatCall, breakpoints: boolean): boolean {
  if (!breakpoints) return hasCacheMarks(call);
  const said = call.messages.map(({ parts, ...message }) => ({ ...message, parts: parts.filter(isUnsaid) }));
  return hasCacheMarks({ ...call, messages: said });
}

function isUnsaid({ type }: Part): boolean {
  return type === 'tool-call' || type === 'tool-result';
}

function writeConversation(call: ChatCall, breakpoints: boolean, warnings: Set<string>): Json[] {
  const { completion } = call;
  if (!completion) return writeMessages(call, breakpoints, warnings);
  for (const loss of completionLosses(completion)) warnings.add(loss);
  return [{ role: 'user', content: completionAsTurn(completion.prompts[0] ?? '', completion.suffix) }];
}

function writeSampling(call: ChatCall, warnings: Set<string>): JsonMembers {
  const { sampling } = call;
  const isOwn = call.origin.dialect === OPENAI_CHAT;
  if (sampling.topK !== undefined && !isOwn) warnings.add('`top_k` was dropped: this format has no such member.');
  return {
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: isOwn ? sampling.topK : undefined,
    n: sampling.n,
    stop: sampling.stop,
    max_tokens: call.maxOutputTokens,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    logit_bias: sampling.logitBias,
    logprobs: sampling.logprobs,
    top_logprobs: sampling.topLogprobs,
    seed: sampling.seed,
  };
}

function writeSettings(call: ChatCall, extras: JsonObject, warnings: Set<string>): JsonMembers {
  const isOwn = call.origin.dialect === OPENAI_CHAT;
  const effort = effortOf(call.reasoning);
  const tier = call.serviceTier;
  const isKnownTier = tier === undefined || isOwn || SERVICE_TIERS.has(tier);
  if (!isKnownTier) warnings.add(`The service tier \`${tier}\` was dropped: this format does not know it.`);
  if (call.metadata && !isOwn) warnings.add('`metadata` was dropped: the model does not store the call.');
  return {
    // If the client used a provider's own member, that member is among the extras.
    reasoning_effort: effortOf(readReasoning(extras)) === effort ? extras.reasoning_effort : effort,
    ...writeOtherOutput(call, extras, isOwn, warnings),
    user: call.user === extras.safety_identifier ? undefined : call.user,
    prompt_cache_key: call.cacheKey,
    service_tier: isKnownTier ? tier : undefined,
    verbosity: call.verbosity ?? extras.verbosity,
    // OpenAI accepts metadata only for stored calls, which a client of another format did not request.
    metadata: isOwn ? call.metadata : undefined,
  };
}

/** Image and audio output. Audio output also needs text, a voice and an audio format. */
function writeOtherOutput(call: ChatCall, extras: JsonObject, isOwn: boolean, warnings: Set<string>): JsonMembers {
  const { image, modalities, audio } = call;
  const image_config = image && {
    ...(image.aspectRatio !== undefined && { aspect_ratio: image.aspectRatio }),
    ...(image.size !== undefined && { image_size: image.size }),
  };
  if (isOwn || !modalities?.includes('audio')) return { image_config, modalities, audio: extras.audio ?? audio };
  const voice = voiceFor(audio?.voice ?? '', 'openai', warnings);
  return { image_config, modalities: ['text', 'audio'], audio: { voice, format: audio?.format ?? 'pcm16' } };
}
