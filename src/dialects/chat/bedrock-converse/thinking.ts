/** Requests thinking in the members of the model's family. */
import type { ChatCall, Effort, Reasoning } from '../../../canonical/call.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { BUDGETS, effortOfBudget, LEAST_BUDGET, nearestEffort, reportNoBudget } from '../request/reasoning-effort.ts';
import type { ConverseModelTraits } from './model-traits.ts';

const ANSWER_TOKENS = 8192;

/** The thinking settings of a call. */
export interface ConverseThinking {
  /** Members of `additionalModelRequestFields`. */
  fields: JsonObject;
  /** Members of `inferenceConfig` that the model then rejects. */
  excludes: readonly ('maxTokens' | 'temperature' | 'topP')[];
  /** A token limit that the model then requires. */
  maxTokens?: number;
}

export function writeThinking(call: ChatCall, traits: ConverseModelTraits, losses: Set<string>): ConverseThinking {
  const { reasoning, maxOutputTokens } = call;
  const asked = reasoning && (reasoning.effort ?? reasoning.budgetTokens ?? reasoning.adaptive);
  if (!reasoning || asked === undefined) return { fields: {}, excludes: [] };
  const isOff = reasoning.effort === 'none' || reasoning.budgetTokens === 0;
  switch (traits.thinking) {
    case undefined:
      if (!isOff) losses.add('The reasoning setting was dropped: the model does not support reasoning.');
      return { fields: {}, excludes: [] };
    case 'budget':
      return isOff ? { fields: {}, excludes: [] } : onABudget(call, reasoning, losses);
    case 'adaptive': {
      if (isOff) return { fields: { thinking: { type: 'disabled' } }, excludes: [] };
      const output_config = { effort: effortFor(reasoning, traits, losses) };
      return { fields: { thinking: { type: 'adaptive' }, output_config }, excludes: ['temperature', 'topP'] };
    }
    case 'nova': {
      if (isOff) return { fields: { reasoningConfig: { type: 'disabled' } }, excludes: [] };
      let maxReasoningEffort = effortFor(reasoning, traits, losses);
      // The model rejects a token limit with the highest effort, but the call was priced with its limit: the next lower
      // effort is used.
      if (maxReasoningEffort === 'high' && maxOutputTokens !== undefined) {
        losses.add('The reasoning effort `high` became `medium`: the model accepts no output limit with it.');
        maxReasoningEffort = 'medium';
      }
      const excludes = maxReasoningEffort === 'high' ? (['maxTokens', 'temperature', 'topP'] as const) : [];
      return { fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort } }, excludes };
    }
    case 'effort':
      return { fields: { reasoning_effort: isOff ? 'low' : effortFor(reasoning, traits, losses) }, excludes: [] };
    default:
      return traits.thinking satisfies never;
  }
}

function onABudget(call: ChatCall, reasoning: Reasoning, losses: Set<string>): ConverseThinking {
  const { maxOutputTokens: ceiling, heldOutputTokens: held = Number.POSITIVE_INFINITY } = call;
  const wanted = Math.max(LEAST_BUDGET, reasoning.budgetTokens ?? BUDGETS[reasoning.effort ?? 'medium']);
  const maxTokens = ceiling ?? Math.min(held, wanted + ANSWER_TOKENS);
  const budget_tokens = Math.min(wanted, maxTokens - 1);
  if (budget_tokens < LEAST_BUDGET) {
    reportNoBudget(losses);
    return { fields: {}, excludes: [] };
  }
  return { fields: { thinking: { type: 'enabled', budget_tokens } }, excludes: ['temperature', 'topP'], maxTokens };
}

/** The nearest effort that the model supports. */
function effortFor({ effort, budgetTokens }: Reasoning, { efforts }: ConverseModelTraits, losses: Set<string>): Effort {
  const asked = effort ?? (budgetTokens === undefined ? 'medium' : effortOfBudget(budgetTokens));
  return nearestEffort(asked, efforts, losses);
}
