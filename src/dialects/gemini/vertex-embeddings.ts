/** Embeddings on Vertex AI, `POST …/models/{model}:predict`: only the vendor speaks it. */
import type { EmbedCall } from '../../canonical/call.ts';
import { isObject, type JsonObject } from '../../canonical/json.ts';
import type { ReplyEvent, Vector } from '../../canonical/reply.ts';
import type { Written } from '../dialect.ts';
import { countedUsage, foreignExtras, textsOnly } from '../embedding-texts.ts';
import { unreadable, vendorDialect } from '../whole-reply.ts';
import { readError } from './read-error.ts';

export const vertexEmbeddings = vendorDialect<EmbedCall>({
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
  const warnings = foreignExtras(call, '');
  if (call.user !== undefined) warnings.push("`user` was dropped: the model's vendor has no such member.");
  return { body: new TextEncoder().encode(JSON.stringify({ instances, parameters })), warnings };
}

/** Older models are sold by the character, which the reply counts for all texts together; newer ones by the token. */
function meaningOf({ predictions, metadata }: JsonObject, call: EmbedCall): ReplyEvent[] {
  if (!Array.isArray(predictions) || predictions.length !== call.inputs.length) throw unreadable();
  let tokens = 0;
  let counted = false;
  const vectors: Vector[] = predictions.map((one, index) => {
    const embeddings = isObject(one) && isObject(one.embeddings) ? one.embeddings : {};
    if (!Array.isArray(embeddings.values)) throw unreadable();
    const said = isObject(embeddings.statistics) ? embeddings.statistics.token_count : undefined;
    if (typeof said === 'number') tokens += said;
    else counted = true;
    return { index, values: embeddings.values as number[] };
  });
  const usage = countedUsage(call);
  const billed = isObject(metadata) ? metadata.billableCharacterCount : undefined;
  if (typeof billed === 'number') usage.characters = billed;
  if (!counted) Object.assign(usage, { input: tokens, source: 'reported' });
  return [
    { type: 'reply-start', id: '', model: call.model },
    { type: 'result', result: { type: 'vectors', vectors } },
    { type: 'usage', usage },
  ];
}
