/** Log probabilities. This format has one column per member, the canonical form one row per token. */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';

/** Returns rows of `{token, logprob, top_logprobs: [{token, logprob}], text_offset}`. */
export function readLogprobs(columns: Json | undefined): JsonObject[] {
  if (!isObject(columns) || !Array.isArray(columns.tokens)) return [];
  const { token_logprobs: chosen, top_logprobs: likely, text_offset: offsets } = columns;
  return columns.tokens.map((token, i) => {
    const top = at(likely, i);
    return {
      token,
      logprob: at(chosen, i),
      top_logprobs: isObject(top) ? Object.entries(top).map(([token, logprob]) => ({ token, logprob })) : [],
      text_offset: at(offsets, i),
    };
  });
}

export function writeLogprobs(rows: readonly Json[] | undefined): JsonObject | null {
  if (!rows || rows.length === 0) return null;
  const found = rows.filter(isObject);
  const top = found.map((row) => writeTop(row.top_logprobs));
  const offsets = found.map((row) => row.text_offset ?? null);
  return {
    tokens: found.map((row) => row.token ?? ''),
    token_logprobs: found.map((row) => row.logprob ?? null),
    // The AI SDK fails on an empty list.
    top_logprobs: top.some(isPresent) ? top : null,
    ...(offsets.some(isPresent) && { text_offset: offsets }),
  };
}

function isPresent(value: Json): boolean {
  return value !== null;
}

function writeTop(top: Json | undefined): Json {
  if (!Array.isArray(top) || top.length === 0) return null;
  const entries = top.filter(isObject).map((row) => [String(row.token), row.logprob ?? null] as const);
  return Object.fromEntries(entries);
}

function at(column: Json | undefined, index: number): Json {
  return Array.isArray(column) ? (column[index] ?? null) : null;
}
