/** Log probabilities in the shape of chat completions and Responses: one row per token. */
import { isObject, type Json } from '../../../canonical/json.ts';

/** Removes the text offsets, which only text completions have. */
export function tokenRows(rows: Json[]): Json[] {
  if (!rows.some((row) => isObject(row) && row.text_offset !== undefined)) return rows;
  return rows.map((row) => {
    if (!isObject(row)) return row;
    const { text_offset: _, ...others } = row;
    return others;
  });
}
