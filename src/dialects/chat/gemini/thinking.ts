/** Writes `thinkingConfig` in the members of the model's generation. */

import type { Effort, Reasoning } from '../../../canonical/call.ts';
import { entryOf } from '../../../canonical/entry-of.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import type { GeminiModelTraits } from './model-traits.ts';

const BUDGETS = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
} as const satisfies Record<Effort, number>;
const BOUNDS = {
  pro: { least: 128, most: 32_768 },
  flash: { least: 1, most: 24_576 },
  'flash-lite': { least: 512, most: 24_576 },
} as const satisfies Record<GeminiModelTraits['family'], object>;

const FLASH_LEVELS = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
} as const satisfies Record<Effort, string>;
const PRO_LEVELS = { ...FLASH_LEVELS, none: 'LOW', minimal: 'LOW', medium: 'HIGH' } as const;

export function writeThinking(
  reasoning: Reasoning,
  traits: GeminiModelTraits,
  losses: Set<string>,
): JsonObject | undefined {
  if (traits.thinking === 'none') {
    if (reasoning.effort !== 'none')
      losses.add('The reasoning setting was dropped: the model does not support reasoning.');
    return undefined;
  }
  const config = traits.thinking === 'level' ? levelOf(reasoning, traits, losses) : budgetOf(reasoning, traits, losses);
  const isShown = reasoning.summary !== 'none' && reasoning.effort !== 'none';
  const written = { ...config, ...(isShown && { includeThoughts: true }) };
  return Object.keys(written).length > 0 ? written : undefined;
}

function levelOf({ effort, budgetTokens }: Reasoning, { family }: GeminiModelTraits, losses: Set<string>): JsonObject {
  const asked = effort ?? (budgetTokens === undefined ? undefined : effortOf(budgetTokens));
  if (asked === undefined) return {};
  if (asked === 'none') losses.add('The model cannot turn its thinking off: the lowest setting was used.');
  if (effort === undefined)
    losses.add('The thinking budget was converted to a level: the model does not accept a number of tokens.');
  return { thinkingLevel: (family === 'pro' ? PRO_LEVELS : FLASH_LEVELS)[asked] };
}

const LOW_BELOW = 2048;
const MEDIUM_BELOW = 10_000;

function effortOf(budgetTokens: number): Effort {
  if (budgetTokens < LOW_BELOW) return 'low';
  return budgetTokens < MEDIUM_BELOW ? 'medium' : 'high';
}

function budgetOf(reasoning: Reasoning, { family }: GeminiModelTraits, losses: Set<string>): JsonObject {
  const { effort, budgetTokens, adaptive } = reasoning;
  if (effort === 'none') {
    if (family !== 'pro') return { thinkingBudget: 0 };
    losses.add('The model cannot turn its thinking off: the lowest setting was used.');
  }
  const { least, most } = BOUNDS[family];
  const asked = budgetTokens ?? (effort && entryOf(BUDGETS, effort));
  if (asked === undefined) return adaptive ? { thinkingBudget: -1 } : {};
  if (budgetTokens !== undefined && budgetTokens > most)
    losses.add(`The thinking budget was lowered to ${most} tokens.`);
  return { thinkingBudget: Math.min(most, Math.max(least, asked)) };
}
