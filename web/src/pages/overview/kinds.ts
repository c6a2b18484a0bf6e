/** Kinds of tokens, for charts. */
import type { OverviewFigures } from '../../api/types.ts';

const KINDS = ['cachedInput', 'input', 'cacheWrite', 'output', 'reasoning'] as const;
export type Kind = (typeof KINDS)[number];

/** Tokens by kind, each counted once: the API's input includes cached tokens, its output includes reasoning. */
export function kindsOf({ tokens }: OverviewFigures): {
  kinds: readonly (readonly [Kind, number])[];
  total: number;
} {
  const { input, cachedInput, cacheWrite, output, reasoning } = tokens;
  const sums = {
    cachedInput,
    cacheWrite,
    input: Math.max(0, input - cachedInput - cacheWrite),
    reasoning,
    output: Math.max(0, output - reasoning),
  };
  const kinds = KINDS.map((kind) => [kind, sums[kind]] as const).filter(([, amount]) => amount > 0);
  return { kinds, total: kinds.reduce((total, [, amount]) => total + amount, 0) };
}
