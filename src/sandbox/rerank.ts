/** The sandbox's reranking: BM25 over the documents of the call. */
import { GatewayError } from '../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../canonical/json.ts';
import { countTokens } from './tokens.ts';

export const RERANK_MODEL = 'sandbox-rerank';

export interface RankRequest {
  query: string;
  documents: string[];
  topN: number;
  tokens: number;
}

/** The usual BM25 parameters: saturation of repeated words, and influence of length. */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;
/** The limits of a request. */
const MOST = { documents: 1000, queryTokens: 2048, tokens: 300_000 };

export function readRerank(body: JsonObject): RankRequest {
  if (body.model !== RERANK_MODEL) {
    throw new GatewayError('model_not_found', `The model \`${body.model}\` does not exist.`, { param: 'model' });
  }
  const { query, documents, top_n: topN } = body;
  if (typeof query !== 'string')
    throw new GatewayError('invalid_request', '`query` must be a text.', { param: 'query' });
  if (!Array.isArray(documents))
    throw new GatewayError('invalid_request', '`documents` must be a list.', { param: 'documents' });
  if (documents.length > MOST.documents)
    throw new GatewayError('invalid_request', `\`documents\` must be at most ${MOST.documents}.`, {
      param: 'documents',
    });
  const texts = documents.map(readDocument);
  return {
    query,
    documents: texts,
    topN: typeof topN === 'number' ? topN : documents.length,
    tokens: tokensIn(query, texts),
  };
}

function tokensIn(query: string, documents: readonly string[]): number {
  const asked = countTokens(query, MOST.queryTokens);
  if (asked > MOST.queryTokens)
    throw new GatewayError('invalid_request', `\`query\` must have at most ${MOST.queryTokens} tokens.`, {
      param: 'query',
    });
  let total = 0;
  for (const document of documents) {
    total += countTokens(document, MOST.tokens);
    if (total > MOST.tokens)
      throw new GatewayError('invalid_request', `\`documents\` must have at most ${MOST.tokens} tokens together.`, {
        param: 'documents',
      });
  }
  return total + asked * documents.length;
}

function readDocument(document: Json): string {
  const text = isObject(document) ? document.text : document;
  if (typeof text === 'string') return text;
  throw new GatewayError('invalid_request', 'A document must be a text.', { param: 'documents' });
}

export function rerankReply(asked: RankRequest, key: string): JsonObject {
  const results = scoresOf(asked)
    .map((score, index) => ({ index, relevance_score: score }))
    .sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
    .slice(0, asked.topN);
  return {
    id: `rerank-${key}`,
    model: RERANK_MODEL,
    results,
    meta: { api_version: { version: '1' } },
    usage: { total_tokens: asked.tokens },
  };
}

/** From 0 to 1, both exclusive, for any documents. */
function scoresOf({ query, documents }: RankRequest): number[] {
  const asked = new Set(wordsOf(query));
  const bags = documents.map(bagOf);
  const mean = bags.reduce((sum, { length }) => sum + length, 0) / Math.max(1, bags.length) || 1;
  const rarity = new Map<string, number>();
  for (const word of asked) {
    const holding = bags.filter(({ counts }) => counts.has(word)).length;
    rarity.set(word, Math.log(1 + (bags.length - holding + 0.5) / (holding + 0.5)));
  }
  return bags.map(({ length, counts }) => {
    let score = 0;
    for (const [word, weight] of rarity) {
      const count = counts.get(word) ?? 0;
      const damping = SATURATION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * length) / mean);
      score += (weight * count * (SATURATION + 1)) / (count + damping);
    }
    return score / (score + 1);
  });
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The number of occurrences of each word. */
function bagOf(text: string): { length: number; counts: Map<string, number> } {
  const words = wordsOf(text);
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { length: words.length, counts };
}
