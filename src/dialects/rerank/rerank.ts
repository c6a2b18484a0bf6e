/** Rerank, `POST /v1/rerank`: Cohere's format, which Jina and most self-hosted servers use. */

import type { RerankCall } from '../../canonical/call.ts';
import { isObject, type JsonObject } from '../../canonical/json.ts';
import type { Reply, ReplyEvent } from '../../canonical/reply.ts';
import type { Dialect, Frame, WireRequest, Written } from '../dialect.ts';
import { adjust } from '../shared/adjust.ts';
import { extrasOf, memberCheck } from '../shared/checked-members.ts';
import { jsonReader, jsonWriter } from '../shared/json-reply.ts';
import { billable, type MoneySpelling } from '../shared/money/money-members.ts';
import { OPENAI_ERRORS } from '../shared/openai-errors.ts';
import { OwnBody, WrittenBody } from '../shared/outgoing-body.ts';
import type { Quirks } from '../shared/quirks.ts';
import { parseObject } from '../shared/request-body.ts';
import { topMembers } from '../shared/request-shape.ts';
import { DOCUMENTS_A_SEARCH, rankingUsage, readRanking } from './ranking.ts';
import { RerankRequest } from './request-schema.ts';

const MONEY: MoneySpelling = {
  tier: ['service_tier'],
  model: ['model'],
  read: ['documents', 'query', 'max_tokens_per_doc'],
  content: new Set(['documents']),
};
const NAME = 'rerank';
/** All other members are extras. */
const DECLARED = topMembers(RerankRequest);
const check = memberCheck(RerankRequest);

export const rerank: Dialect<RerankCall> = {
  name: NAME,
  kind: 'rerank',
  readCall,
  writer: (call) =>
    jsonWriter(
      (reply) => bodyOf(call, reply, {}),
      (frame, reply) => normalized(call, frame, reply),
    ),
  ...OPENAI_ERRORS,
  writeCall,
  passCall,
  reader: (call) => jsonReader((body) => meaningOf(body, call)),
};

function readCall({ body: received }: WireRequest): RerankCall {
  const parsed = parseObject(received);
  const { body, bytes, dropped } = billable(parsed, received, MONEY);
  const { model, query, documents, top_n: topN, return_documents: returns, max_tokens_per_doc: most } = check(body);
  return {
    kind: 'rerank',
    model,
    stream: false,
    origin: { dialect: NAME, body: bytes, ...(dropped && { dropped }) },
    extras: extrasOf(body, DECLARED, NAME),
    headers: {},
    query,
    documents: documents.map((document) => (typeof document === 'string' ? document : document.text)),
    returnDocuments: returns === true,
    ...(topN != null && { topN }),
    ...(most != null && { maxTokensPerDocument: most }),
  };
}

function writeCall(call: RerankCall, model: string, quirks: Quirks): Written {
  const members: JsonObject = { model, query: call.query, documents: call.documents };
  if (call.topN !== undefined) members.top_n = call.topN;
  if (call.maxTokensPerDocument !== undefined) members.max_tokens_per_doc = call.maxTokensPerDocument;
  const body = new WrittenBody(Object.assign(members, call.extras[NAME]));
  const losses = new Set<string>();
  adjust(body, call, model, quirks, losses);
  return { body: body.encode(), warnings: [...losses] };
}

/**
 * Sends documents as texts and restores them in the reply: providers differ in the document types that they accept and
 * return.
 */
function passCall(call: RerankCall, model: string, quirks: Quirks): Written {
  const body = new OwnBody(call.origin.body);
  body.set('return_documents', undefined);
  body.set('documents', call.documents);
  if (model !== call.model) body.set('model', model);
  const losses = new Set<string>();
  adjust(body, call, model, quirks, losses);
  return { body: body.encode(), warnings: [...losses] };
}

function meaningOf(body: JsonObject, call: RerankCall): ReplyEvent[] {
  return [
    { type: 'reply-start', id: typeof body.id === 'string' ? body.id : '', model: call.model },
    { type: 'result', result: { type: 'ranking', ranking: readRanking(body.results, call) } },
    { type: 'usage', usage: rankingUsage(body, call) },
  ];
}

/**
 * The provider's body, completed with what the format requires: an id, sorted results, `meta`, and documents only on
 * request.
 */
function normalized(call: RerankCall, frame: Frame, reply: Reply): Uint8Array {
  const upstreamBody = JSON.parse(new TextDecoder().decode(frame.bytes)) as JsonObject;
  return new TextEncoder().encode(JSON.stringify(bodyOf(call, reply, upstreamBody)));
}

function bodyOf(call: RerankCall, { id, result, usage }: Reply, upstreamBody: JsonObject): JsonObject {
  const ranking = result?.type === 'ranking' ? result.ranking : [];
  const results = ranking
    .toSorted((a, b) => b.score - a.score)
    .slice(0, call.topN)
    .map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(call.returnDocuments && { document: { text: call.documents[index] ?? '' } }),
    }));
  const searches = usage?.searches ?? Math.ceil(call.documents.length / DOCUMENTS_A_SEARCH);
  const meta = { api_version: { version: '1' }, billed_units: { search_units: searches } };
  return {
    ...upstreamBody,
    id: id === '' ? `rerank-${call.receivedSeconds ?? 0}` : id,
    ...('model' in upstreamBody && { model: call.model }),
    results,
    meta: isObject(upstreamBody.meta) ? { ...meta, ...upstreamBody.meta } : meta,
  };
}
