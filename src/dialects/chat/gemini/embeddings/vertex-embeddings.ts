/** Embeddings on Vertex AI, `POST …/models/{model}:predict`. Only providers speak this format. */
import type { EmbedCall } from '../../../../canonical/call.ts';
import { isObject, type JsonObject } from '../../../../canonical/json.ts';
import type { ReplyEvent, Vector } from '../../../../canonical/reply.ts';
import { figure } from '../../../../canonical/usage.ts';
import type { Written } from '../../../dialect.ts';
import { embeddingUsage, textsOnly, unsupportedExtras } from '../../../embeddings/embedding-texts.ts';
import { providerDialect, unreadable } from '../../../shared/json-reply.ts';
import { readError } from '../errors.ts';

export const vertexEmbeddings = providerDialect<EmbedCall>({
  name: 'vertex-embeddings',
  kind: 'embed',
  writeCall,
  meaning: meaningOf,
  readError,
});

function writeCall(call: EmbedCall): Written {
  const instances = textsOnly(call).map((content) => ({
    content,
    ...(call.task !== undefined && { task_type: call.task }),
    ...(call.title !== undefined && { title: call.title }),
  }));
  const parameters = call.dimensions === undefined ? {} : { outputDimensionality: call.dimensions };
  const warnings = unsupportedExtras(call, '');
  if (call.user !== undefined) warnings.push('`user` was dropped: the provider has no such member.');
  return { body: new TextEncoder().encode(JSON.stringify({ instances, parameters })), warnings };
}

/** Older models are billed by character, which the reply counts for all texts together; newer ones by token. */
function meaningOf({ predictions, metadata }: JsonObject, call: EmbedCall): ReplyEvent[] {
  if (!Array.isArray(predictions) || predictions.length !== call.inputs.length) throw unreadable();
  let tokens = 0;
  const vectors: Vector[] = predictions.map((one, index) => {
    const embeddings = isObject(one) && isObject(one.embeddings) ? one.embeddings : {};
    if (!Array.isArray(embeddings.values)) throw unreadable();
    // A text without a count makes the sum unknown.
    tokens += figure((isObject(embeddings.statistics) ? embeddings.statistics.token_count : undefined) ?? Number.NaN);
    return { index, values: embeddings.values as number[] };
  });
  const usage = embeddingUsage(call, tokens);
  const billed = figure(isObject(metadata) ? metadata.billableCharacterCount : undefined);
  if (billed > 0) usage.characters = billed;
  return [
    { type: 'reply-start', id: '', model: call.model },
    { type: 'result', result: { type: 'vectors', vectors } },
    { type: 'usage', usage },
  ];
}
