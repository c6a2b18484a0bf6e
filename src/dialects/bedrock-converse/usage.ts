/** The usage object of this format: cached input stands beside `inputTokens`, not inside. */
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { Usage } from '../../canonical/usage.ts';

export function readUsage(raw: JsonObject): Usage {
  const cachedInput = count(raw.cacheReadInputTokens);
  const written = count(raw.cacheWriteInputTokens);
  const inHours = Math.min(written, hoursOf(raw.cacheDetails));
  return {
    input: count(raw.inputTokens) + cachedInput + written,
    output: count(raw.outputTokens),
    source: 'reported',
    ...(cachedInput > 0 && { cachedInput }),
    ...(written > inHours && { cacheWrite: written - inHours }),
    ...(inHours > 0 && { cacheWriteHour: inHours }),
  };
}

/** What was written to the cache for an hour. */
function hoursOf(details: Json | undefined): number {
  if (!Array.isArray(details)) return 0;
  const hours = details.filter((one) => isObject(one) && one.ttl === '1h');
  return hours.reduce<number>((sum, one) => sum + (isObject(one) ? count(one.inputTokens) : 0), 0);
}

function count(value: Json | undefined): number {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? Math.floor(value) : 0;
}
