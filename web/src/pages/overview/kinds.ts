import type { CallRow } from '../../api/types.ts';

const KINDS = ['cachedInput', 'input', 'cacheWrite', 'output', 'reasoning'] as const;
export type Kind = (typeof KINDS)[number];

/** Tokens by kind, each counted once: the API's input includes cached tokens, its output includes reasoning. */
export function kindsOf(calls: readonly CallRow[]): { kinds: readonly (readonly [Kind, number])[]; total: number } {
  const sums = { cachedInput: 0, input: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  for (const { usage } of calls) {
    if (!usage) continue;
    const { input = 0, cachedInput = 0, cacheWrite = 0, output = 0, reasoning = 0 } = usage;
    sums.cachedInput += cachedInput;
    sums.cacheWrite += cacheWrite;
    sums.input += Math.max(0, input - cachedInput - cacheWrite);
    sums.reasoning += reasoning;
    sums.output += Math.max(0, output - reasoning);
  }
  const kinds = KINDS.map((kind) => [kind, sums[kind]] as const).filter(([, amount]) => amount > 0);
  return { kinds, total: kinds.reduce((total, [, amount]) => total + amount, 0) };
}
