/** The usage object of OpenAI's formats, as OpenAI and as everybody who copied it writes it. */
import { isObject, type Json, type JsonObject } from '../canonical/json.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Quirks } from './dialect.ts';

/** Reads a final usage object. Shares never exceed their totals, whatever the vendor says. */
export function readUsage(raw: JsonObject, quirks: Quirks): Usage {
  const prompt = objectAt(raw, 'prompt_tokens_details') ?? objectAt(raw, 'input_tokens_details') ?? {};
  const completion = objectAt(raw, 'completion_tokens_details') ?? objectAt(raw, 'output_tokens_details') ?? {};
  const tools = objectAt(raw, 'server_tool_use_details') ?? objectAt(raw, 'server_tool_use') ?? {};
  const input = inputTokens(raw);
  const output = outputTokens(raw, quirks);
  const cachedInput = Math.min(
    input,
    firstCount(
      prompt.cached_tokens,
      raw.prompt_cache_hit_tokens,
      raw.cached_tokens,
      raw.num_cached_tokens,
      raw.cache_read_input_tokens,
    ),
  );
  const written = firstCount(
    prompt.cache_write_tokens,
    prompt.cache_creation_input_tokens,
    raw.cache_creation_input_tokens,
  );
  return {
    input,
    output,
    source: 'reported',
    ...present('cachedInput', cachedInput),
    ...present('cacheWrite', Math.min(input - cachedInput, written)),
    ...present('audioInput', Math.min(input, firstCount(prompt.audio_tokens, raw.audio_prompt_tokens))),
    ...present('imageInput', Math.min(input, firstCount(prompt.image_tokens))),
    ...present('reasoning', Math.min(output, Math.max(reasoningTokens(raw), unsaidOutput(raw)))),
    ...present('audioOutput', Math.min(output, firstCount(completion.audio_tokens))),
    ...present('imageOutput', Math.min(output, firstCount(completion.image_tokens))),
    ...present('acceptedPrediction', firstCount(completion.accepted_prediction_tokens)),
    ...present('rejectedPrediction', firstCount(completion.rejected_prediction_tokens)),
    ...present(
      'serverToolCalls',
      firstCount(tools.web_search_requests, tools.tool_calls_executed, raw.num_search_queries, raw.num_sources_used),
    ),
  };
}

/** All output, where the vendor counts reasoning beside it (xAI) or only in the total (Google) too. */
export function outputTokens(raw: JsonObject, quirks: Quirks): number {
  const said = firstCount(raw.completion_tokens, raw.output_tokens);
  const reasoning = reasoningTokens(raw);
  if (firstCount(raw.total_tokens) === 0) return quirks.reasoningBesideOutput ? said + reasoning : said;
  const unsaid = unsaidOutput(raw);
  return reasoning === 0 || unsaid === reasoning ? said + unsaid : said;
}

/** A usage object of specification 2.12. */
export function writeUsage(usage: Usage): JsonObject {
  const { input, output, audioInput = 0, imageInput = 0, audioOutput = 0, imageOutput = 0, reasoning = 0 } = usage;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: usage.cachedInput ?? 0,
      ...present('cache_write_tokens', (usage.cacheWrite ?? 0) + (usage.cacheWriteHour ?? 0)),
      text_tokens: Math.max(0, input - audioInput - imageInput),
      audio_tokens: audioInput,
      image_tokens: imageInput,
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      text_tokens: Math.max(0, output - audioOutput - imageOutput - reasoning),
      audio_tokens: audioOutput,
      ...present('image_tokens', imageOutput),
      ...present('accepted_prediction_tokens', usage.acceptedPrediction ?? 0),
      ...present('rejected_prediction_tokens', usage.rejectedPrediction ?? 0),
    },
    ...(usage.serverToolCalls ? { server_tool_use_details: { web_search_requests: usage.serverToolCalls } } : {}),
  };
}

function inputTokens(raw: JsonObject): number {
  return firstCount(raw.prompt_tokens, raw.input_tokens);
}

function reasoningTokens(raw: JsonObject): number {
  const completion = objectAt(raw, 'completion_tokens_details') ?? objectAt(raw, 'output_tokens_details');
  return firstCount(completion?.reasoning_tokens, raw.reasoning_tokens);
}

/** What the total holds beyond input and output. */
function unsaidOutput(raw: JsonObject): number {
  return Math.max(
    0,
    firstCount(raw.total_tokens) - inputTokens(raw) - firstCount(raw.completion_tokens, raw.output_tokens),
  );
}

function objectAt(raw: JsonObject, member: string): JsonObject | undefined {
  const value = raw[member];
  return isObject(value) ? value : undefined;
}

/** The first of the values that is a count above zero. */
function firstCount(...values: (Json | undefined)[]): number {
  for (const value of values) if (typeof value === 'number' && value > 0) return Math.round(value);
  return 0;
}

function present<Name extends string>(name: Name, count: number): { [name in Name]?: number } {
  return count > 0 ? ({ [name]: count } as { [name in Name]: number }) : {};
}
