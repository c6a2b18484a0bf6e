/** The figures of the tables `call_sums`, `usage_sums` and `usage_days`. */

export const FIGURE_NAMES = [
  'calls',
  'cost',
  'input_tokens',
  'output_tokens',
  'saved',
  'provider_cost',
  'costed_calls',
  'costed_charge',
] as const;

export type FigureColumns = { [name in (typeof FIGURE_NAMES)[number]]: bigint };

export const FIGURES = FIGURE_NAMES.join(', ');
/** The sums of rows of these tables. */
export const SUMS_OF_SUMS = FIGURE_NAMES.map((name) => `CAST(sum(${name}) AS BIGINT) AS ${name}`).join(', ');
/** The same figures of rows of `calls`. */
export const SUMS_OF_CALLS = `count(*) AS calls, ${['cost', 'input_tokens', 'output_tokens', 'saved', 'provider_cost']
  .map((name) => `CAST(coalesce(sum(calls.${name}), 0) AS BIGINT) AS ${name}`)
  .join(', ')}, count(calls.provider_cost) AS costed_calls,
  CAST(coalesce(sum(CASE WHEN calls.provider_cost IS NOT NULL THEN calls.cost END), 0) AS BIGINT) AS costed_charge`;

/** `SET` of an `ON CONFLICT`: adds the new figures to those of the row, which is called `sums`. */
export const ADDED = FIGURE_NAMES.map((name) => `${name} = sums.${name} + excluded.${name}`).join(', ');
