/** Cohere's embeddings, `POST /v2/embed`. Only providers speak this format. */

import type { EmbedCall } from '../../canonical/call.ts';
import { entryOf } from '../../canonical/entry-of.ts';
import { isObject, type JsonObject } from '../../canonical/json.ts';
import type { ReplyEvent, Vector } from '../../canonical/reply.ts';
import type { Written } from '../dialect.ts';
import { adjust } from '../shared/adjust.ts';
import { providerDialect, unreadable } from '../shared/json-reply.ts';
import { readOpenaiError } from '../shared/openai-errors.ts';
import { WrittenBody } from '../shared/outgoing-body.ts';
import type { Quirks } from '../shared/quirks.ts';
import { embeddingUsage, textsOnly, unsupportedExtras } from './embedding-texts.ts';

const NAME = 'cohere-embed';
/** Cohere's member for the purpose of the vectors. Clients may set it in OpenAI's format too. */
const INPUT_TYPE = 'input_type';
const INPUT_TYPE_OF_TASK: { readonly [task: string]: string } = {
  RETRIEVAL_QUERY: 'search_query',
  QUESTION_ANSWERING: 'search_query',
  FACT_VERIFICATION: 'search_query',
  CODE_RETRIEVAL_QUERY: 'search_query',
  RETRIEVAL_DOCUMENT: 'search_document',
  CLASSIFICATION: 'classification',
  CLUSTERING: 'clustering',
};

export const cohereEmbed = providerDialect<EmbedCall>({
  name: NAME,
  kind: 'embed',
  writeCall,
  meaning: meaningOf,
  readError: readOpenaiError,
});

function writeCall(call: EmbedCall, model: string, all: Quirks): Written {
  const extras = Object.assign({}, ...Object.values(call.extras)) as JsonObject;
  const own = typeof extras[INPUT_TYPE] === 'string' ? extras[INPUT_TYPE] : undefined;
  const members: JsonObject = {
    model,
    texts: textsOnly(call),
    input_type: own ?? entryOf(INPUT_TYPE_OF_TASK, call.task ?? '') ?? 'search_document',
    embedding_types: ['float'],
  };
  if (call.dimensions !== undefined) members.output_dimension = call.dimensions;
  const body = new WrittenBody(members);
  const losses = new Set<string>();
  adjust(body, call, model, all, losses);
  const warnings = [...losses, ...unsupportedExtras(call, NAME).filter((one) => !one.includes(`\`${INPUT_TYPE}\``))];
  if (call.user !== undefined) warnings.push('`user` was dropped: the provider has no such member.');
  if (call.title !== undefined) warnings.push('`title` was dropped: the model only accepts texts.');
  return { body: body.encode(), warnings };
}

function meaningOf(body: JsonObject, call: EmbedCall): ReplyEvent[] {
  const floats = isObject(body.embeddings) ? body.embeddings.float : body.embeddings;
  if (!Array.isArray(floats) || floats.length !== call.inputs.length) throw unreadable();
  const vectors: Vector[] = floats.map((values, index) => {
    if (!Array.isArray(values)) throw unreadable();
    return { index, values: values as number[] };
  });
  const billed =
    isObject(body.meta) && isObject(body.meta.billed_units) ? body.meta.billed_units.input_tokens : undefined;
  return [
    { type: 'reply-start', id: typeof body.id === 'string' ? body.id : '', model: call.model },
    { type: 'result', result: { type: 'vectors', vectors } },
    { type: 'usage', usage: embeddingUsage(call, billed) },
  ];
}
