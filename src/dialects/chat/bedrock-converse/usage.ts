/** The usage object of this format. `inputTokens` does not include cached input. */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { asReport, figure, type Usage } from '../../../canonical/usage.ts';

/** Returns `undefined` if it reports nothing. */
export function readUsage(raw: JsonObject): Usage | undefined {
  const cachedInput = figure(raw.cacheReadInputTokens);
  const written = figure(raw.cacheWriteInputTokens);
  const inHours = Math.min(written, hoursOf(raw.cacheDetails));
  return asReport({
    input: figure(raw.inputTokens) + cachedInput + written,
    output: figure(raw.outputTokens),
    source: 'reported',
    ...(cachedInput > 0 && { cachedInput }),
    ...(written > inHours && { cacheWrite: written - inHours }),
    ...(inHours > 0 && { cacheWriteHour: inHours }),
  });
}

/** The tokens that were cached for one hour. */
function hoursOf(details: Json | undefined): number {
  if (!Array.isArray(details)) return 0;
  const hours = details.filter((one) => isObject(one) && one.ttl === '1h');
  return hours.reduce<number>((sum, one) => sum + (isObject(one) ? figure(one.inputTokens) : 0), 0);
}
