/** Reads the usage of a recording in OpenAI's format without any code of the gateway. */
import { type RecordedCase, replyBytes } from './fixtures.ts';

export interface RecordedUsage {
  input: number;
  output: number;
  cachedInput: number;
}

interface WireUsage {
  prompt_tokens?: number;
  completion_tokens?: number;
  total_tokens?: number;
  /** DeepSeek's, Mistral's and Moonshot's names of cached input tokens. */
  prompt_cache_hit_tokens?: number;
  num_cached_tokens?: number;
  cached_tokens?: number;
  prompt_tokens_details?: { cached_tokens?: number | null } | null;
  completion_tokens_details?: { reasoning_tokens?: number | null } | null;
}
type Carrier = { usage?: WireUsage | null; x_groq?: { usage?: WireUsage | null } | null };

/** `undefined` if the provider reported none. The last report counts. */
export function recordedUsage(recorded: RecordedCase): RecordedUsage | undefined {
  const usage = carriers(recorded)
    .map((carrier) => carrier.usage ?? carrier.x_groq?.usage)
    .filter((each) => each != null)
    .at(-1);
  if (usage?.prompt_tokens === undefined) return undefined;
  const { prompt_tokens: input, completion_tokens = 0, total_tokens = 0 } = usage;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  // xAI counts reasoning in addition to the completion; Google's compatible endpoint includes it only in the total.
  const beside = total_tokens === input + completion_tokens + reasoning || recorded.provider === 'google-openai-compat';
  const output = beside && total_tokens > input + completion_tokens ? total_tokens - input : completion_tokens;
  const { prompt_tokens_details: details, prompt_cache_hit_tokens, num_cached_tokens, cached_tokens } = usage;
  const cached = details?.cached_tokens ?? prompt_cache_hit_tokens ?? num_cached_tokens ?? cached_tokens ?? 0;
  return { input, output, cachedInput: Math.min(cached, input) };
}

function carriers(recorded: RecordedCase): Carrier[] {
  const text = Buffer.from(replyBytes(recorded)).toString();
  if (!recorded.stream) return [JSON.parse(text) as Carrier];
  const events: Carrier[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('data: {') || line.startsWith('data:{')) events.push(JSON.parse(line.slice(5)) as Carrier);
  }
  return events;
}
