/** Says which stored sum is wrong, and in which columns. */
import type { SumLine } from './sums-reader.ts';

export function nameOfSum({ account, key, model, provider, tag }: SumLine): string {
  const of = [`account ${account}`, `key ${key}`, `model ${model}`];
  if (provider !== undefined) of.push(`provider "${provider}"`);
  if (tag !== undefined && tag !== '') of.push(`tag "${tag}"`);
  return `sum of ${of.join(', ')}`;
}

export const differencesOf = ({ wrong }: SumLine): string =>
  Object.entries(wrong)
    .map(([column, { made, kept }]) => `${column} ${kept} instead of ${made}`)
    .join(', ');
