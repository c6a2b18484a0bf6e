/** Log probabilities as chat completions and responses have them: a row for each token. */
import { isObject, type Json } from '../../../canonical/json.ts';

/** The rows without where their tokens stand, which text completions alone say. */
export function tokenRows(rows: Json[]): Json[] {
  if (!rows.some((row) => isObject(row) && row.text_offset !== undefined)) return rows;
  return rows.map((row) => {
    if (!isObject(row)) return row;
    const { text_offset: _, ...others } = row;
    return others;
  });
}
