/** Google's embeddings: `:batchEmbedContents`, which its library and its vendor speak, and `:embedContent` for one text. */
import type { EmbedCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { Reply, ReplyEvent, Vector } from '../../canonical/reply.ts';
import { vectorNumbers } from '../../canonical/vectors.ts';
import type { Dialect, WireRequest, Written } from '../dialect.ts';
import { embeddingUsage, foreignExtras, MOST_TEXTS, textsOnly } from '../embedding-texts.ts';
import { googleError } from '../error-bodies.ts';
import { OwnBody } from '../outgoing-body.ts';
import { parseBody, wrong } from '../request-body.ts';
import { unreadable, wholeReader, wholeWriter } from '../whole-reply.ts';
import { readError } from './read-error.ts';

const BATCH = 'gemini-batch-embed';
const SINGLE = 'gemini-embed';
/** What a request says besides its content. */
const SAID = new Set(['model', 'content', 'taskType', 'title', 'outputDimensionality']);

/** `POST …/models/{model}:batchEmbedContents` */
export const geminiBatchEmbed: Dialect<EmbedCall> = {
  name: BATCH,
  kind: 'embed',
  readCall(request) {
    const { requests } = objectIn(request.body);
    if (!Array.isArray(requests) || requests.length === 0 || requests.length > MOST_TEXTS) {
      throw wrong('requests', `must be a list of 1 to ${MOST_TEXTS} requests`);
    }
    return callOf(
      request,
      BATCH,
      requests.map((one, place) => askedBy(one, `requests[${place}]`)),
    );
  },
  writer: () => wholeWriter(batchOf, (frame) => frame.bytes),
  writeError: googleError,
  writeCall,
  passCall,
  reader: (call) => wholeReader((body) => meaningOf(body, call)),
  readError,
};

/** `POST …/models/{model}:embedContent`: only a client speaks it, its call is a batch of one. */
export const geminiEmbed: Dialect<EmbedCall> = {
  ...geminiBatchEmbed,
  name: SINGLE,
  readCall: (request) => callOf(request, SINGLE, [askedBy(objectIn(request.body), '')]),
  writer: () =>
    wholeWriter(
      (reply) => ({ embedding: valuesOf(reply)[0] ?? { values: [] } }),
      (frame) => frame.bytes,
    ),
};

/** One text and what is said of it. */
interface AskedText {
  text: string;
  task?: string;
  title?: string;
  dimensions?: number;
  more: JsonObject;
}

function objectIn(bytes: Uint8Array): JsonObject {
  const body = parseBody(bytes);
  if (isObject(body)) return body;
  throw new GatewayError('invalid_request', 'The body must be a JSON object.');
}

function askedBy(request: Json, path: string): AskedText {
  const at = (member: string) => (path === '' ? member : `${path}.${member}`);
  if (!isObject(request)) throw wrong(path, 'must be an object with `content`');
  const { content, taskType: task, title, outputDimensionality: dimensions } = request;
  const parts = isObject(content) ? content.parts : undefined;
  if (!Array.isArray(parts) || parts.length === 0) throw wrong(at('content.parts'), 'must hold at least one text');
  const texts = parts.map((part, place) => {
    if (isObject(part) && typeof part.text === 'string') return part.text;
    throw wrong(at(`content.parts[${place}]`), 'must be a text: only texts are embedded');
  });
  const text = texts.join('');
  if (text === '') throw wrong(at('content.parts'), 'must hold a text that is not empty');
  if (dimensions != null && !(Number.isSafeInteger(dimensions) && Number(dimensions) > 0)) {
    throw wrong(at('outputDimensionality'), 'must be a whole number above zero');
  }
  return {
    text,
    ...(typeof task === 'string' && { task }),
    ...(typeof title === 'string' && { title }),
    ...(typeof dimensions === 'number' && { dimensions }),
    more: Object.fromEntries(Object.entries(request).filter(([member]) => !SAID.has(member))),
  };
}

function callOf({ body, path }: WireRequest, dialect: string, asked: readonly AskedText[]): EmbedCall {
  const [{ task, title, dimensions, more } = { more: {} } as AskedText] = asked;
  const same = asked.every((one) => one.task === task && one.title === title && one.dimensions === dimensions);
  const extras = same ? more : { ...more, requests: 'differ' };
  return {
    kind: 'embed',
    model: path.model ?? '',
    stream: false,
    origin: { dialect, body },
    extras: Object.keys(extras).length > 0 ? { [dialect]: extras } : {},
    headers: {},
    inputs: asked.map(({ text }) => text),
    encoding: 'float',
    ...(task !== undefined && { task }),
    ...(title !== undefined && { title }),
    ...(dimensions !== undefined && { dimensions }),
  };
}

function writeCall(call: EmbedCall, model: string): Written {
  const requests = textsOnly(call).map((text) => ({
    model: resource(model),
    content: { parts: [{ text }] },
    ...(call.task !== undefined && { taskType: call.task }),
    ...(call.title !== undefined && { title: call.title }),
    ...(call.dimensions !== undefined && { outputDimensionality: call.dimensions }),
  }));
  const warnings = foreignExtras(call, '');
  if (call.user !== undefined) warnings.push("`user` was dropped: the model's vendor has no such member.");
  return { body: new TextEncoder().encode(JSON.stringify({ requests })), warnings };
}

/** Each request names the model again. */
function passCall({ origin }: EmbedCall, model: string): Written {
  const body = new OwnBody(origin.body);
  const requests = body.get('requests');
  const named = Array.isArray(requests)
    ? requests.map((one) => (isObject(one) ? { ...one, model: resource(model) } : one))
    : [];
  body.set('requests', named);
  return { body: body.encode(), warnings: [] };
}

function resource(model: string): string {
  return model.includes('/') ? model : `models/${model}`;
}

function meaningOf({ embeddings, usageMetadata }: JsonObject, call: EmbedCall): ReplyEvent[] {
  if (!Array.isArray(embeddings) || embeddings.length !== call.inputs.length) throw unreadable();
  const vectors: Vector[] = embeddings.map((one, index) => {
    if (!isObject(one) || !Array.isArray(one.values)) throw unreadable();
    return { index, values: one.values as number[] };
  });
  const said = isObject(usageMetadata) ? usageMetadata.promptTokenCount : undefined;
  return [
    { type: 'reply-start', id: '', model: call.model },
    { type: 'result', result: { type: 'vectors', vectors } },
    { type: 'usage', usage: embeddingUsage(call, said) },
  ];
}

function batchOf(reply: Reply): JsonObject {
  return { embeddings: valuesOf(reply) };
}

function valuesOf({ result }: Reply): { values: number[] }[] {
  const vectors = result?.type === 'vectors' ? result.vectors : [];
  return vectors.toSorted((a, b) => a.index - b.index).map((vector) => ({ values: [...vectorNumbers(vector)] }));
}
