/** Writes a call as a chat completion request. */
import type { ChatCall, Part, Tool, ToolChoice } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { voiceFor } from '../../audio/voices.ts';
import type { Quirks, Written } from '../../dialect.ts';
import { WrittenBody, writtenFor } from '../../shared/outgoing-body.ts';
import { quirksOf } from '../../shared/quirks.ts';
import { CACHE_MARKS_DROPPED, hasCacheMarks } from '../cache-marks.ts';
import { completionAsTurn, completionLosses } from '../completion-turn.ts';
import { effortOf } from '../reasoning-effort.ts';
import { reportForeignEach } from '../request-losses.ts';
import { reportProviderTool } from '../request-tools.ts';
import { adjust } from './adjust.ts';
import { OPENAI_CHAT } from './name.ts';
import { readReasoning } from './read-request.ts';
import { writeMessages } from './write-message.ts';
import { writeOutput } from './write-output.ts';

type Members = { [member: string]: Json | undefined };

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
  reportForeignEach(call, OPENAI_CHAT, warnings);
  if (call.origin.dialect !== OPENAI_CHAT && losesCacheMarks(call, breakpoints)) warnings.add(CACHE_MARKS_DROPPED);
  adjust(body, call, known, warnings);
  return writtenFor(call, body, [...warnings]);
}

/** Marks stand on what is said alone: not on tools, their calls and their results. */
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

function writeSampling(call: ChatCall, warnings: Set<string>): Members {
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

function writeTools(call: ChatCall, extras: JsonObject, warnings: Set<string>): Members {
  const old = new Set(Array.isArray(extras.functions) ? extras.functions.map((item) => nameOf(item)) : []);
  const tools = call.tools.filter((tool) => !(tool.type === 'function' && old.has(tool.name)));
  const written = tools.flatMap((tool) => writeTool(tool, call, warnings) ?? []);
  const search = tools.find((tool) => tool.type === 'web-search');
  const searches = search ? { web_search_options: searchOptions(search, warnings) } : {};
  if (written.length === 0) return searches;
  return {
    ...searches,
    tools: written,
    tool_choice:
      call.toolChoice && extras.function_call === undefined
        ? writeToolChoice(call.toolChoice, call.tools, warnings)
        : undefined,
    parallel_tool_calls: call.parallelToolCalls,
  };
}

/** How wide to search, and where the user is: in this format's words. */
function searchOptions({ dialect, options }: Extract<Tool, { type: 'web-search' }>, warnings: Set<string>): JsonObject {
  if (dialect === OPENAI_CHAT) return options;
  const { search_context_size: size, user_location: location, type: _, name: __, ...others } = options;
  for (const [name, value] of Object.entries(others)) {
    if (value !== null) warnings.add(`\`${name}\` of the web search was dropped: this format has no such member.`);
  }
  const { type: ___, ...place } = isObject(location) ? location : {};
  return {
    ...(typeof size === 'string' && { search_context_size: size }),
    ...(isObject(location) && { user_location: { type: 'approximate', approximate: place } }),
  };
}

function nameOf(item: Json): Json | undefined {
  return typeof item === 'object' && item !== null && !Array.isArray(item) ? item.name : undefined;
}

function writeTool(tool: Tool, call: ChatCall, warnings: Set<string>): JsonObject | undefined {
  switch (tool.type) {
    case 'function': {
      const { name, description, parameters, strict } = tool;
      const body = {
        name,
        ...(description !== undefined && { description }),
        ...(parameters && { parameters }),
        ...(strict !== undefined && { strict }),
      };
      return { type: 'function', function: body, ...mark(tool, call) };
    }
    case 'custom': {
      const { name, description, format } = tool;
      const { type, ...grammar } = format ?? {};
      const nested = type === 'grammar' ? { type, grammar } : format;
      const body = { name, ...(description !== undefined && { description }), ...(nested && { format: nested }) };
      return { type: 'custom', custom: body, ...mark(tool, call) };
    }
    case 'web-search':
      return undefined;
    case 'vendor':
      if (tool.dialect === OPENAI_CHAT) return tool.item;
      return reportProviderTool(tool, warnings);
    default:
      return tool satisfies never;
  }
}

function mark({ cache }: Exclude<Tool, { type: 'web-search' | 'vendor' }>, call: ChatCall): JsonObject {
  return cache && call.origin.dialect === OPENAI_CHAT ? { cache_control: { type: 'ephemeral', ...cache } } : {};
}

function writeToolChoice(choice: ToolChoice, tools: readonly Tool[], warnings: Set<string>): Json | undefined {
  const named = (name: string): JsonObject =>
    tools.some((tool) => tool.type === 'custom' && tool.name === name)
      ? { type: 'custom', custom: { name } }
      : { type: 'function', function: { name } };
  switch (choice.type) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.type;
    case 'tool':
      return named(choice.name);
    case 'allowed':
      return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools: choice.names.map(named) } };
    case 'vendor':
      if (choice.dialect === OPENAI_CHAT) return choice.item;
      warnings.add('`tool_choice` was dropped: it names a tool that runs at another provider.');
      return undefined;
    default:
      return choice satisfies never;
  }
}

function writeSettings(call: ChatCall, extras: JsonObject, warnings: Set<string>): Members {
  const isOwn = call.origin.dialect === OPENAI_CHAT;
  const effort = effortOf(call.reasoning);
  const tier = call.serviceTier;
  const isKnownTier = tier === undefined || isOwn || SERVICE_TIERS.has(tier);
  if (!isKnownTier) warnings.add(`The service tier \`${tier}\` was dropped: this format does not know it.`);
  if (call.metadata && !isOwn) warnings.add('`metadata` was dropped: the model does not store the call.');
  return {
    // Where the client said it in a provider's own words those stand among the extras.
    reasoning_effort: effortOf(readReasoning(extras)) === effort ? extras.reasoning_effort : effort,
    ...writeOtherOutput(call, extras, isOwn, warnings),
    user: call.user === extras.safety_identifier ? undefined : call.user,
    prompt_cache_key: call.cacheKey,
    service_tier: isKnownTier ? tier : undefined,
    verbosity: call.verbosity ?? extras.verbosity,
    // OpenAI takes it only of calls it is told to store, which another format's client did not ask for.
    metadata: isOwn ? call.metadata : undefined,
  };
}

/** Images and speech; who speaks here also writes, and in a voice and a form that must be named. */
function writeOtherOutput(call: ChatCall, extras: JsonObject, isOwn: boolean, warnings: Set<string>): Members {
  const { image, modalities, audio } = call;
  const image_config = image && {
    ...(image.aspectRatio !== undefined && { aspect_ratio: image.aspectRatio }),
    ...(image.size !== undefined && { image_size: image.size }),
  };
  if (isOwn || !modalities?.includes('audio')) return { image_config, modalities, audio: extras.audio ?? audio };
  const voice = voiceFor(audio?.voice ?? '', 'openai', warnings);
  return { image_config, modalities: ['text', 'audio'], audio: { voice, format: audio?.format ?? 'pcm16' } };
}
