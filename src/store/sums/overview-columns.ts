/** The columns of the table `overview_sums`. */
import { COUNTS, type OverviewFigures, RANGES } from './overview-sums.ts';

const ranges = (name: string): string[] => Array.from({ length: RANGES }, (_, range) => `${name}_${range}`);

/** In the order of `OverviewFigures.counts`. */
const COUNT_NAMES = [
  ...['calls', 'failed', 'input_tokens', 'output_tokens', 'cached_tokens', 'cache_write_tokens', 'reasoning_tokens'],
  ...ranges('first'),
  ...ranges('took'),
];

const NAMES = ['cost', 'saved', ...COUNT_NAMES];
export const OVERVIEW_COLUMNS = `slot, writer, model, ${NAMES.join(', ')}`;
/** How many parameters a row has. */
export const OVERVIEW_VALUES = NAMES.length + 3;
/** The sums of rows. */
export const OVERVIEW_TOTALS = NAMES.map((name) => `CAST(sum(${name}) AS BIGINT) AS ${name}`).join(', ');
/** `SET` of an `ON CONFLICT`: adds the new figures to those of the row, which is called `sums`. */
export const OVERVIEW_ADDED = NAMES.map((name) => `${name} = sums.${name} + excluded.${name}`).join(', ');
/** The counts as members of an array in Postgres, which counts from 1. */
export const OVERVIEW_FROM_ARRAY = COUNT_NAMES.map((_, index) => `counts[${index + 1}]`).join(', ');

export type OverviewFigureColumns = { [name: string]: bigint };

export function toOverviewFigures(row: OverviewFigureColumns): OverviewFigures {
  const counts = new Array<number>(COUNTS);
  for (let index = 0; index < COUNTS; index++) counts[index] = Number(row[COUNT_NAMES[index]!]);
  return { cost: row.cost ?? 0n, saved: row.saved ?? 0n, counts };
}
