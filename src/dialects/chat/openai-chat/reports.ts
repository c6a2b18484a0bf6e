/** Finds the usage in a reply of this format, and rejects unusable figures. */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Usage } from '../../../canonical/usage.ts';
import { readUsage } from '../../shared/openai-usage.ts';
import type { Quirks } from '../../shared/quirks.ts';

export function usageIn(payload: JsonObject, choices: readonly Json[]): JsonObject | undefined {
  if (isObject(payload.usage)) return payload.usage;
  // Moonshot reports usage in the last choice.
  const [first] = choices;
  return isObject(first) && isObject(first.usage) ? first.usage : undefined;
}

export class Reports {
  #last: Usage | undefined;

  /** If the figures are unusable, the previous report stays, marked as partial. */
  read(raw: JsonObject, quirks: Quirks): Usage | undefined {
    const usage = readUsage(raw, quirks);
    if (usage) this.#last = usage;
    return usage ?? (this.#last && { ...this.#last, source: 'partial' });
  }
}
