/** The usage object of OpenAI's formats, as OpenAI and as everybody who copied it writes it. */
import { isObject, type Json, type JsonObject } from '../canonical/json.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Quirks } from './dialect.ts';

/** Reads a final usage object. Shares never exceed their totals, whatever the vendor says. */
export function readUsage(raw: JsonObject, quirks: Quirks): Usage {
  const prompt = objectAt(raw, 'prompt_tokens_details') ?? objectAt(raw, 'input_tokens_details');
  const completion = outputDetails(raw);
  const tools = objectAt(raw, 'server_tool_use_details') ?? objectAt(raw, 'server_tool_use');
  const input = inputTokens(raw);
  const output = outputTokens(raw, quirks);
  const read = firstCount(
    prompt?.cached_tokens,
    raw.prompt_cache_hit_tokens,
    raw.cached_tokens,
    raw.num_cached_tokens,
    raw.cache_read_input_tokens,
  );
  const cachedInput = Math.min(input, read);
  const written = firstCount(
    prompt?.cache_write_tokens,
    prompt?.cache_creation_input_tokens,
    raw.cache_creation_input_tokens,
  );
  const usage: Usage = { input, output, source: 'reported' };
  setCount(usage, 'cachedInput', cachedInput);
  setCount(usage, 'cacheWrite', Math.min(input - cachedInput, written));
  setCount(usage, 'audioInput', Math.min(input, firstCount(prompt?.audio_tokens, raw.audio_prompt_tokens)));
  setCount(usage, 'imageInput', Math.min(input, firstCount(prompt?.image_tokens)));
  setCount(usage, 'reasoning', Math.min(output, Math.max(reasoningTokens(raw), unsaidOutput(raw))));
  setCount(usage, 'audioOutput', Math.min(output, firstCount(completion?.audio_tokens)));
  setCount(usage, 'imageOutput', Math.min(output, firstCount(completion?.image_tokens)));
  setCount(usage, 'acceptedPrediction', firstCount(completion?.accepted_prediction_tokens));
  setCount(usage, 'rejectedPrediction', firstCount(completion?.rejected_prediction_tokens));
  const searches = firstCount(tools?.web_search_requests, tools?.tool_calls_executed);
  setCount(usage, 'serverToolCalls', searches || firstCount(raw.num_search_queries, raw.num_sources_used));
  return usage;
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
  const prompt: JsonObject = { cached_tokens: usage.cachedInput ?? 0 };
  setCount(prompt, 'cache_write_tokens', (usage.cacheWrite ?? 0) + (usage.cacheWriteHour ?? 0));
  prompt.text_tokens = Math.max(0, input - audioInput - imageInput);
  prompt.audio_tokens = audioInput;
  prompt.image_tokens = imageInput;
  const completion: JsonObject = {
    reasoning_tokens: reasoning,
    text_tokens: Math.max(0, output - audioOutput - imageOutput - reasoning),
    audio_tokens: audioOutput,
  };
  setCount(completion, 'image_tokens', imageOutput);
  setCount(completion, 'accepted_prediction_tokens', usage.acceptedPrediction ?? 0);
  setCount(completion, 'rejected_prediction_tokens', usage.rejectedPrediction ?? 0);
  const written: JsonObject = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: prompt,
    completion_tokens_details: completion,
  };
  if (usage.serverToolCalls) written.server_tool_use_details = { web_search_requests: usage.serverToolCalls };
  return written;
}

function inputTokens(raw: JsonObject): number {
  return firstCount(raw.prompt_tokens, raw.input_tokens);
}

function reasoningTokens(raw: JsonObject): number {
  return firstCount(outputDetails(raw)?.reasoning_tokens, raw.reasoning_tokens);
}

function outputDetails(raw: JsonObject): JsonObject | undefined {
  return objectAt(raw, 'completion_tokens_details') ?? objectAt(raw, 'output_tokens_details');
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
function firstCount(a?: Json, b?: Json, c?: Json, d?: Json, e?: Json): number {
  return countIn(a) || countIn(b) || countIn(c) || countIn(d) || countIn(e);
}

function countIn(value: Json | undefined): number {
  return typeof value === 'number' && value > 0 ? Math.round(value) : 0;
}

function setCount<Name extends string>(of: { [name in Name]?: Json }, name: Name, count: number): void {
  if (count > 0) of[name] = count;
}
