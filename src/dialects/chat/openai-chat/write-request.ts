/** Writes a call as a chat completion request. */

import type { ChatCall, Part } from '../../../canonical/call.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import { voiceFor } from '../../audio/voices.ts';
import type { Written } from '../../dialect.ts';
import { adjust } from '../../shared/adjust.ts';
import { WrittenBody, writtenFor } from '../../shared/outgoing-body.ts';
import { type Quirks, quirksOf } from '../../shared/quirks.ts';
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
  // Member by member: merging objects of mostly absent members took a tenth of what a translation takes.
  const body = new WrittenBody({ ...extras });
  body.set('model', model);
  body.set('messages', writeConversation(call, breakpoints, warnings));
  writeSampling(body, call, warnings);
  const tools = writeTools(call, extras, warnings);
  for (const name in tools) body.set(name, tools[name]);
  body.set('response_format', writeOutput(call.output, {}) ?? extras.response_format);
  writeSettings(body, call, extras, warnings);
  body.set('stream', call.stream || undefined);
  reportUnsupportedEach(call, OPENAI_CHAT, warnings);
  if (call.origin.dialect !== OPENAI_CHAT && losesCacheMarks(call, breakpoints)) warnings.add(CACHE_MARKS_DROPPED);
  adjust(body, call, model, known, warnings, ADJUSTMENTS);
  return writtenFor(call, body, [...warnings]);
}

/** Cache breakpoints exist only on message content, not on tools, tool calls and tool results. */
function losesCacheMarks(call: ChatCall, breakpoints: boolean): boolean {
  if (!breakpoints) return hasCacheMarks(call);
  const unmarked = call.messages.map(({ parts, ...message }) => ({ ...message, parts: parts.filter(isUnsaid) }));
  return hasCacheMarks({ ...call, messages: unmarked });
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

function writeSampling(body: WrittenBody, call: ChatCall, warnings: Set<string>): void {
  const { sampling } = call;
  const isOwn = call.origin.dialect === OPENAI_CHAT;
  if (sampling.topK !== undefined && !isOwn) warnings.add('`top_k` was dropped: this format has no such member.');
  body.set('temperature', sampling.temperature);
  body.set('top_p', sampling.topP);
  body.set('top_k', isOwn ? sampling.topK : undefined);
  body.set('n', sampling.n);
  body.set('stop', sampling.stop);
  body.set('max_tokens', call.maxOutputTokens);
  body.set('presence_penalty', sampling.presencePenalty);
  body.set('frequency_penalty', sampling.frequencyPenalty);
  body.set('logit_bias', sampling.logitBias);
  body.set('logprobs', sampling.logprobs);
  body.set('top_logprobs', sampling.topLogprobs);
  body.set('seed', sampling.seed);
}

function writeSettings(body: WrittenBody, call: ChatCall, extras: JsonObject, warnings: Set<string>): void {
  const isOwn = call.origin.dialect === OPENAI_CHAT;
  const effort = effortOf(call.reasoning);
  const tier = call.serviceTier;
  const isKnownTier = tier === undefined || isOwn || SERVICE_TIERS.has(tier);
  if (!isKnownTier) warnings.add(`The service tier \`${tier}\` was dropped: this format does not know it.`);
  if (call.metadata && !isOwn) warnings.add('`metadata` was dropped: the model does not store the call.');
  // If the client used a provider's own member, that member is among the extras.
  body.set('reasoning_effort', effortOf(readReasoning(extras)) === effort ? extras.reasoning_effort : effort);
  writeOtherOutput(body, call, extras, isOwn, warnings);
  body.set('user', call.user === extras.safety_identifier ? undefined : call.user);
  body.set('prompt_cache_key', call.cacheKey);
  body.set('service_tier', isKnownTier ? tier : undefined);
  body.set('verbosity', call.verbosity ?? extras.verbosity);
  // OpenAI accepts metadata only for stored calls, which a client of another format did not request.
  body.set('metadata', isOwn ? call.metadata : undefined);
}

/** Image and audio output. Audio output also needs text, a voice and an audio format. */
function writeOtherOutput(
  body: WrittenBody,
  call: ChatCall,
  extras: JsonObject,
  isOwn: boolean,
  warnings: Set<string>,
): void {
  const { image, modalities, audio } = call;
  body.set('image_config', image && writeImageConfig(image));
  if (isOwn || !modalities?.includes('audio')) {
    body.set('modalities', modalities);
    body.set('audio', extras.audio ?? audio);
    return;
  }
  const voice = voiceFor(audio?.voice ?? '', 'openai', warnings);
  body.set('modalities', ['text', 'audio']);
  body.set('audio', { voice, format: audio?.format ?? 'pcm16' });
}

function writeImageConfig({ aspectRatio, size }: NonNullable<ChatCall['image']>): JsonObject {
  return {
    ...(aspectRatio !== undefined && { aspect_ratio: aspectRatio }),
    ...(size !== undefined && { image_size: size }),
  };
}
