/** Maps reasoning efforts and budgets to what the model supports. */
import type { ChatCall, Effort, Reasoning } from '../../../canonical/call.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { BUDGETS, effortOfBudget, LEAST_BUDGET, nearestEffort, reportNoBudget } from '../request/reasoning-effort.ts';
import type { MessagesModelTraits } from './model-traits.ts';
import { isOwn } from './thinking-blocks.ts';

const EFFORTS: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max'] satisfies Effort[];

/** Output tokens left for the answer, in addition to the thinking budget, if the client set no limit. */
const DEFAULT_ANSWER_TOKENS = 8192;

export function readEffort(word: string | null | undefined): Effort | undefined {
  return EFFORTS.find((effort): effort is Effort => effort === word);
}

/** The thinking settings of a call. Without `thinking` the model decides. */
export interface MessagesThinking {
  thinking?: JsonObject;
  effort?: Effort;
  /** Whether the model thinks before it answers. */
  isOn: boolean;
  maxTokens: number;
}

export function writeThinking(call: ChatCall, traits: MessagesModelTraits, losses: Set<string>): MessagesThinking {
  const ceiling = ceilingOf(call, traits, losses);
  const { reasoning } = call;
  const asked = reasoning && (reasoning.effort ?? reasoning.budgetTokens ?? reasoning.adaptive);
  const unasked: MessagesThinking = { isOn: false, maxTokens: ceiling ?? defaultCeiling(call, traits, 0) };
  if (!reasoning || asked === undefined) return unasked;
  if (reasoning.effort === 'none' || reasoning.budgetTokens === 0) {
    return traits.thinking === 'none' ? unasked : { ...unasked, thinking: { type: 'disabled' } };
  }
  if (traits.thinking === 'none') {
    losses.add('The reasoning setting was dropped: the model does not support reasoning.');
    return unasked;
  }
  const onBudget =
    traits.thinking === 'budget' || (traits.thinking === 'either' && reasoning.budgetTokens !== undefined);
  return onBudget
    ? onABudget(call, reasoning, traits, ceiling, losses)
    : byEffort(call, reasoning, traits, unasked, losses);
}

/** The client's token limit, at most the model's. */
function ceilingOf(
  call: ChatCall,
  { maxOutputTokens: most }: MessagesModelTraits,
  losses: Set<string>,
): number | undefined {
  const asked = call.maxOutputTokens;
  if (asked === undefined) return undefined;
  if (most === undefined || asked <= most) return Math.max(1, asked);
  losses.add(`The output limit was lowered to ${most}, the model’s maximum.`);
  return most;
}

function defaultCeiling(
  { heldOutputTokens: held }: ChatCall,
  { maxOutputTokens: most }: MessagesModelTraits,
  budget: number,
): number {
  const bounds = [most, held].filter((bound) => bound !== undefined);
  return Math.min(...bounds, budget + DEFAULT_ANSWER_TOKENS);
}

function onABudget(
  call: ChatCall,
  reasoning: Reasoning,
  traits: MessagesModelTraits,
  ceiling: number | undefined,
  losses: Set<string>,
): MessagesThinking {
  const wanted = reasoning.budgetTokens ?? BUDGETS[reasoning.effort ?? 'medium'];
  const maxTokens = ceiling ?? defaultCeiling(call, traits, Math.max(LEAST_BUDGET, wanted));
  const budget = Math.max(LEAST_BUDGET, Math.min(wanted, maxTokens - 1));
  if (budget >= maxTokens) {
    reportNoBudget(losses);
    return { isOn: false, maxTokens };
  }
  if (hasOpenUnsignedLoop(call)) {
    losses.add('Thinking was turned off in this turn: the model requires its own thinking before the open tool calls.');
    return { isOn: false, maxTokens };
  }
  return { isOn: true, maxTokens, thinking: { type: 'enabled', budget_tokens: budget, ...displayOf(call, traits) } };
}

function byEffort(
  call: ChatCall,
  reasoning: Reasoning,
  traits: MessagesModelTraits,
  { maxTokens }: MessagesThinking,
  losses: Set<string>,
): MessagesThinking {
  const { budgetTokens } = reasoning;
  const asked = reasoning.effort ?? (budgetTokens === undefined ? undefined : effortOfBudget(budgetTokens));
  const effort = asked && nearestEffort(asked, traits.efforts, losses);
  return {
    isOn: true,
    maxTokens,
    thinking: { type: 'adaptive', ...displayOf(call, traits) },
    ...(effort && { effort }),
  };
}

/** The newest models omit their thinking unless asked for it. Clients of other formats expect it. */
function displayOf({ reasoning }: ChatCall, traits: MessagesModelTraits): JsonObject {
  if (reasoning?.summary === 'none') return { display: 'omitted' };
  if (reasoning?.summary !== undefined || traits.thinking === 'adaptive') return { display: 'summarized' };
  return {};
}

/** Whether the conversation ends in tool results whose calls have no signed thinking of this provider. */
function hasOpenUnsignedLoop({ messages }: ChatCall): boolean {
  const last = messages.findLastIndex((message) => message.role === 'assistant');
  const turn = messages[last];
  if (!turn?.parts.some((part) => part.type === 'tool-call')) return false;
  if (!messages.slice(last + 1).some((message) => message.parts.some((part) => part.type === 'tool-result')))
    return false;
  return !turn.parts.some((part) => part.type === 'reasoning' && isOwn(part.signature));
}
