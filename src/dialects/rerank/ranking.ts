/** Shared by the rerank formats: reads the scores and the usage. */
import type { RerankCall } from '../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { RankedDocument } from '../../canonical/reply.ts';
import { figure, type Usage } from '../../canonical/usage.ts';
import { unreadable } from '../shared/json-reply.ts';

const BYTES_PER_TOKEN = 4;
/** How many documents are billed as one search. */
export const DOCUMENTS_A_SEARCH = 100;

/** Throws if a result names an unknown document, or one twice. */
export function readRanking(results: Json | undefined, { documents }: RerankCall): RankedDocument[] {
  if (!Array.isArray(results)) throw unreadable();
  const seen = new Set<number>();
  return results.map((result) => {
    if (!isObject(result)) throw unreadable();
    const { index, relevance_score: score = result.score } = result;
    const isPlace = Number.isSafeInteger(index) && Number(index) >= 0 && Number(index) < documents.length;
    if (!isPlace || typeof score !== 'number' || seen.has(Number(index))) throw unreadable();
    seen.add(Number(index));
    return { index: Number(index), score };
  });
}

/**
 * Tokens (`usage.total_tokens`, `meta.tokens`) or searches (`meta.billed_units`), whichever the provider reports.
 * Otherwise, or if they are zero, tokens are counted here.
 */
export function rankingUsage({ usage, meta }: JsonObject, { query, documents }: RerankCall): Usage {
  const reported = isObject(usage) ? (usage.total_tokens ?? usage.prompt_tokens) : undefined;
  const billed = isObject(meta) && isObject(meta.billed_units) ? meta.billed_units : {};
  const tokens = isObject(meta) && isObject(meta.tokens) ? meta.tokens.input_tokens : undefined;
  const input = [reported, billed.input_tokens, tokens].map(figure).find((count) => count > 0);
  const isCounted = billed.search_units === undefined || Number.isNaN(figure(billed.search_units));
  const searches = isCounted ? undefined : figure(billed.search_units);
  const texts = documents.reduce((sum, text) => sum + Buffer.byteLength(text) + Buffer.byteLength(query), 0);
  return {
    input: input ?? Math.ceil(texts / BYTES_PER_TOKEN),
    output: 0,
    ...(searches !== undefined && { searches }),
    source: input !== undefined || searches !== undefined ? 'reported' : 'counted',
  };
}
