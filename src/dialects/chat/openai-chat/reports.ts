/** The usage that a reply of this format reports: where it stands, and what becomes of one that is no report. */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Usage } from '../../../canonical/usage.ts';
import type { Quirks } from '../../dialect.ts';
import { readUsage } from '../../shared/openai-usage.ts';

export function usageIn(payload: JsonObject, choices: readonly Json[]): JsonObject | undefined {
  if (isObject(payload.usage)) return payload.usage;
  // Moonshot puts it into the last choice.
  const [first] = choices;
  return isObject(first) && isObject(first.usage) ? first.usage : undefined;
}

export class Reports {
  #last: Usage | undefined;

  /** Where the figures are none, the report before them stands, as one that came too early. */
  read(raw: JsonObject, quirks: Quirks): Usage | undefined {
    const usage = readUsage(raw, quirks);
    if (usage) this.#last = usage;
    return usage ?? (this.#last && { ...this.#last, source: 'partial' });
  }
}
