/** The usage object of OpenAI's formats, as OpenAI and the providers that copied it write it. */
import type { Json, JsonObject } from '../../canonical/json.ts';
import { asReport, figure, type Usage } from '../../canonical/usage.ts';
import { objectAt } from './json-values.ts';
import type { Quirks } from './quirks.ts';

/**
 * Reads a final usage object. Returns `undefined` if it reports nothing. A share (cached, reasoning) never exceeds its
 * total, whatever the provider reports.
 */
export function readUsage(raw: JsonObject, quirks: Quirks): Usage | undefined {
  const prompt = objectAt(raw, 'prompt_tokens_details') ?? objectAt(raw, 'input_tokens_details');
  const completion = objectAt(raw, 'completion_tokens_details') ?? objectAt(raw, 'output_tokens_details');
  const tools = objectAt(raw, 'server_tool_use_details') ?? objectAt(raw, 'server_tool_use');
  const sent = firstTotal(raw.prompt_tokens, raw.input_tokens) ?? 0;
  const total = firstCount(raw.total_tokens);
  const reported = firstTotal(raw.completion_tokens, raw.output_tokens) ?? Math.max(0, total - sent);
  const reasoning = firstCount(completion?.reasoning_tokens, raw.reasoning_tokens);
  const beside = outputBeside(total, sent + reported, reasoning, quirks);
  const output = reported + beside;
  const read = firstCount(
    prompt?.cached_tokens,
    raw.prompt_cache_hit_tokens,
    raw.cached_tokens,
    raw.num_cached_tokens,
    raw.cache_read_input_tokens,
  );
  const written = firstCount(
    prompt?.cache_write_tokens,
    prompt?.cache_creation_input_tokens,
    raw.cache_creation_input_tokens,
  );
  const cachedInput = Math.min(sent, read);
  const cacheWrite = Math.min(sent, written);
  // OpenRouter lists tokens that were both written to and read from the cache under both names: they are input twice.
  const input = cachedInput + cacheWrite > sent ? sent + Math.min(cachedInput, cacheWrite) : sent;
  const usage: Usage = { input, output, source: 'reported' };
  setCount(usage, 'cachedInput', cachedInput);
  setCount(usage, 'cacheWrite', cacheWrite);
  setCount(usage, 'audioInput', Math.min(input, firstCount(prompt?.audio_tokens, raw.audio_prompt_tokens)));
  setCount(usage, 'imageInput', Math.min(input, firstCount(prompt?.image_tokens)));
  setCount(usage, 'reasoning', Math.min(output, Math.max(reasoning, beside)));
  setCount(usage, 'audioOutput', Math.min(output, firstCount(completion?.audio_tokens)));
  setCount(usage, 'imageOutput', Math.min(output, firstCount(completion?.image_tokens)));
  setCount(usage, 'acceptedPrediction', firstCount(completion?.accepted_prediction_tokens));
  setCount(usage, 'rejectedPrediction', firstCount(completion?.rejected_prediction_tokens));
  const searches = firstCount(tools?.web_search_requests, tools?.tool_calls_executed);
  setCount(usage, 'serverToolCalls', searches || firstCount(raw.num_search_queries, raw.num_sources_used));
  return asReport(usage);
}

/**
 * Output that the reported output leaves out. `total_tokens` adds it in two recorded cases only: reasoning that is reported beside the
 * completion (xAI), and Gemini's reasoning, which Google's OpenAI-compatible API includes only in the total.
 */
function outputBeside(total: number, counted: number, reasoning: number, quirks: Quirks): number {
  if (total === 0) return quirks.returnsReasoningBesideOutput ? reasoning : 0;
  const unsaid = Math.max(0, total - counted);
  if (reasoning > 0) return unsaid === reasoning ? unsaid : 0;
  return quirks.returnsReasoningInTotal ? unsaid : 0;
}

/** Writes a usage object (docs/api.md#usage). */
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

/** The first of two members with a value above zero. `NaN` if it is not a valid count, `undefined` if it is absent. */
function firstTotal(a: Json | undefined, b: Json | undefined): number | undefined {
  if (a === undefined || a === null) return b === undefined || b === null ? undefined : figure(b);
  return figure(a) || figure(b ?? a);
}

/** The first value that is a count above zero. */
function firstCount(a?: Json, b?: Json, c?: Json, d?: Json, e?: Json): number {
  return figure(a) || figure(b) || figure(c) || figure(d) || figure(e) || 0;
}

function setCount<Name extends string>(of: { [name in Name]?: Json }, name: Name, count: number): void {
  if (count > 0) of[name] = count;
}
