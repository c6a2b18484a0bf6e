/** Rerank formats that only providers speak: Voyage's and Alibaba's. */
import type { RerankCall } from '../../canonical/call.ts';
import { isObject, type JsonObject } from '../../canonical/json.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Written } from '../dialect.ts';
import { providerDialect } from '../shared/json-reply.ts';
import { readOpenaiError } from '../shared/openai-errors.ts';
import { rankingUsage, readRanking } from './ranking.ts';

/** `POST /v1/rerank` with `top_k`; the reply has `data` instead of `results`. */
export const voyageRerank = providerDialect<RerankCall>({
  name: 'voyage-rerank',
  kind: 'rerank',
  writeCall: (call, model) => ({
    body: encoded({
      model,
      query: call.query,
      documents: call.documents,
      ...(call.topN !== undefined && { top_k: call.topN }),
    }),
    warnings: unsaid(call),
  }),
  meaning: (body, call) => eventsOf(body.data, body, call),
  readError: readOpenaiError,
});

/** `POST /services/rerank/text-rerank/text-rerank`; request and reply are nested in `input` and `output`. */
export const dashscopeRerank = providerDialect<RerankCall>({
  name: 'dashscope-rerank',
  kind: 'rerank',
  writeCall: (call, model): Written => ({
    body: encoded({
      model,
      input: { query: call.query, documents: call.documents },
      parameters: { return_documents: false, ...(call.topN !== undefined && { top_n: call.topN }) },
    }),
    warnings: unsaid(call),
  }),
  meaning: (body, call) => eventsOf(isObject(body.output) ? body.output.results : undefined, body, call),
  readError: readOpenaiError,
});

function eventsOf(results: JsonObject[string] | undefined, body: JsonObject, call: RerankCall): ReplyEvent[] {
  const id = [body.id, body.request_id].find((one) => typeof one === 'string');
  return [
    { type: 'reply-start', id: typeof id === 'string' ? id : '', model: call.model },
    { type: 'result', result: { type: 'ranking', ranking: readRanking(results, call) } },
    { type: 'usage', usage: rankingUsage(body, call) },
  ];
}

function unsaid({ extras, maxTokensPerDocument }: RerankCall): string[] {
  const names = Object.values(extras).flatMap((members) => Object.keys(members));
  if (maxTokensPerDocument !== undefined) names.push('max_tokens_per_doc');
  return names.map((name) => `\`${name}\` was dropped: the provider has no such member.`);
}

function encoded(body: JsonObject): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(body));
}
