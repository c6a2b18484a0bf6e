/** The usage object of this format, with the additional counts of docs/api.md#usage. */
import type { Json, JsonObject } from '../../../canonical/json.ts';
import type { Usage } from '../../../canonical/usage.ts';
import { writeUsage } from '../../shared/openai-usage.ts';

export function writeResponseUsage(usage: Usage): JsonObject {
  const { input, output, cachedInput = 0, cacheWrite = 0, cacheWriteHour = 0, reasoning = 0 } = usage;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cachedInput, cache_write_tokens: cacheWrite + cacheWriteHour },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    ...writeUsage(usage),
  };
}

/** Null is allowed only while the reply is running: AI SDK 4 and 5 fail on null in a finished reply. */
export function usageOfStatus(status: Json | undefined, usage: Usage | undefined, estimate: () => Usage): Json {
  const isUnderWay = status === 'queued' || status === 'in_progress';
  return !usage && isUnderWay ? null : writeResponseUsage(usage ?? estimate());
}
