/** Converts between reasoning efforts and token budgets, for models that know only one of them. */
import type { ChatCall, Effort, Reasoning } from '../../../canonical/call.ts';
import type { Json } from '../../../canonical/json.ts';

/** The efforts of OpenAI's formats. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const satisfies Effort[];

export function isEffort(word: Json | undefined): word is Effort {
  return EFFORTS.some((effort) => effort === word);
}

/** Whether the call asks a Claude model to think, which then signs its thinking. */
export function asksToThink({ reasoning }: ChatCall): boolean {
  return reasoning !== undefined && reasoning.effort !== 'none' && reasoning.budgetTokens !== 0;
}

/** The smallest thinking budget that Claude models accept (Anthropic API reference, "Extended thinking"). */
export const LEAST_BUDGET = 1024;
const LOW_BUDGET = 2048;
const MEDIUM_BUDGET = 10_000;

/** Thinking budgets of Claude models by effort. */
export const BUDGETS = {
  none: 0,
  minimal: LEAST_BUDGET,
  low: LOW_BUDGET,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
} as const satisfies Record<Effort, number>;

/** The effort that corresponds to a budget in tokens. */
export function effortOfBudget(tokens: number): Effort {
  return tokens <= LOW_BUDGET ? 'low' : tokens < MEDIUM_BUDGET ? 'medium' : 'high';
}

/** The effort of a call, also where it names a budget; `undefined` leaves it to the model. */
export function effortOf(reasoning: Reasoning | undefined): Effort | undefined {
  if (reasoning?.effort) return reasoning.effort;
  const budget = reasoning?.budgetTokens;
  if (budget === undefined || budget < 0) return undefined;
  return budget === 0 ? 'none' : effortOfBudget(budget);
}

/** The supported effort that is nearest to the requested one. A different one is reported in `losses`. */
export function nearestEffort(asked: Effort, supported: readonly Effort[], losses: Set<string>): Effort {
  if (supported.includes(asked)) return asked;
  const known = asked === 'xhigh' || asked === 'max' ? 'high' : 'low';
  losses.add(`The reasoning effort \`${asked}\` became \`${known}\`: the model does not know it.`);
  return known;
}

/** Reports that thinking was dropped because the output limit leaves no room for it. */
export function reportNoBudget(losses: Set<string>): void {
  losses.add(`Thinking was turned off: it requires an output limit above ${LEAST_BUDGET} tokens.`);
}
