/** Google's embeddings: `:batchEmbedContents`, which providers are sent, and `:embedContent` for one text. */
import type { EmbedCall } from '../../../../canonical/call.ts';
import { GatewayError } from '../../../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../../../canonical/json.ts';
import type { Reply, ReplyEvent, Vector } from '../../../../canonical/reply.ts';
import { vectorNumbers } from '../../../../canonical/vectors.ts';
import type { Dialect, WireRequest, Written } from '../../../dialect.ts';
import { embeddingUsage, MOST_TEXTS, textsOnly, unsupportedExtras } from '../../../embeddings/embedding-texts.ts';
import { memberCheck } from '../../../shared/checked-members.ts';
import { googleError } from '../../../shared/error-bodies.ts';
import { jsonReader, jsonWriter, unreadable } from '../../../shared/json-reply.ts';
import { type Billable, billable, type MoneySpelling } from '../../../shared/money/money-members.ts';
import { OwnBody } from '../../../shared/outgoing-body.ts';
import { parseBody, wrong } from '../../../shared/request-body.ts';
import { topMembers } from '../../../shared/request-shape.ts';
import { readError } from '../errors.ts';
import { EmbedContentRequest } from './request-schema.ts';

const BATCH = 'gemini-batch-embed';
const SINGLE = 'gemini-embed';
/** Members of a request other than its content. */
const DECLARED = topMembers(EmbedContentRequest);
const check = memberCheck(EmbedContentRequest);

const MONEY: MoneySpelling = {
  tier: ['serviceTier', 'service_tier'],
  model: ['model'],
  content: new Set(['requests', 'content']),
};

/** `POST …/models/{model}:batchEmbedContents` */
export const geminiBatchEmbed: Dialect<EmbedCall> = {
  name: BATCH,
  kind: 'embed',
  readCall(request) {
    const received = objectIn(request.body);
    const { requests } = received.body;
    if (!Array.isArray(requests) || requests.length === 0 || requests.length > MOST_TEXTS) {
      throw wrong('requests', `must be a list of 1 to ${MOST_TEXTS} requests`);
    }
    return callOf(
      request,
      received,
      BATCH,
      requests.map((one, place) => askedBy(one, `requests[${place}]`)),
    );
  },
  writer: () => jsonWriter(batchOf, (frame) => frame.bytes),
  writeError: googleError,
  writeCall,
  passCall,
  reader: (call) => jsonReader((body) => meaningOf(body, call)),
  readError,
};

/** `POST …/models/{model}:embedContent`. Only clients speak it; the call is sent as a batch of one. */
export const geminiEmbed: Dialect<EmbedCall> = {
  ...geminiBatchEmbed,
  name: SINGLE,
  readCall(request) {
    const received = objectIn(request.body);
    return callOf(request, received, SINGLE, [askedBy(received.body, '')]);
  },
  writer: () =>
    jsonWriter(
      (reply) => ({ embedding: valuesOf(reply)[0] ?? { values: [] } }),
      (frame) => frame.bytes,
    ),
};

/** A text and its settings. */
interface EmbedText {
  text: string;
  parts: JsonObject[];
  /** The maximum tokens of input that is not text. */
  mediaTokens: number;
  task?: string;
  title?: string;
  dimensions?: number;
  more: JsonObject;
}

function objectIn(bytes: Uint8Array): Billable {
  const body = parseBody(bytes);
  if (isObject(body)) return billable(body, bytes, MONEY);
  throw new GatewayError('invalid_request', 'The body must be a JSON object.');
}

function askedBy(request: Json, path: string): EmbedText {
  const at = (member: string) => (path === '' ? member : `${path}.${member}`);
  if (!isObject(request)) throw wrong(path, 'must be an object with `content`');
  const { content, taskType: task, title, outputDimensionality: dimensions } = check(request, path);
  const parts = isObject(content as Json) ? (content as JsonObject).parts : undefined;
  if (!Array.isArray(parts) || parts.length === 0) throw wrong(at('content.parts'), 'must hold at least one text');
  const items = parts.map((part, place) => {
    if (isObject(part)) return part;
    throw wrong(at(`content.parts[${place}]`), 'must be an object with a `text` or `inlineData`');
  });
  const text = items.map((part) => (typeof part.text === 'string' ? part.text : '')).join('');
  const media = items.filter((part) => typeof part.text !== 'string');
  if (text === '' && media.length === 0) throw wrong(at('content.parts'), 'must hold a text that is not empty');
  return {
    text,
    parts: items,
    mediaTokens: media.reduce((sum, part) => sum + tokensOf(part), 0),
    ...(typeof task === 'string' && { task }),
    ...(typeof title === 'string' && { title }),
    ...(typeof dimensions === 'number' && { dimensions }),
    more: Object.fromEntries(Object.entries(request).filter(([member]) => !DECLARED.has(member))),
  };
}

const LEAST_MEDIA_TOKENS = 1600;
const BYTES_PER_MEDIA_TOKEN = 16;
/** The provider fetches this media itself, so its size is unknown: assume the model's maximum input. */
const UNSEEN_TOKENS = 8192;

function tokensOf(part: JsonObject): number {
  const inline = part.inlineData ?? part.inline_data;
  const data = isObject(inline) && typeof inline.data === 'string' ? inline.data : undefined;
  if (data === undefined) return UNSEEN_TOKENS;
  return Math.max(LEAST_MEDIA_TOKENS, Math.ceil(data.length / BYTES_PER_MEDIA_TOKEN));
}

function callOf({ path }: WireRequest, received: Billable, dialect: string, asked: readonly EmbedText[]): EmbedCall {
  const [{ task, title, dimensions, more } = { more: {} } as EmbedText] = asked;
  const same = asked.every((one) => one.task === task && one.title === title && one.dimensions === dimensions);
  const mediaTokens = asked.reduce((sum, one) => sum + one.mediaTokens, 0);
  const extras = same ? more : { ...more, requests: 'differ' };
  return {
    kind: 'embed',
    model: path.model ?? '',
    stream: false,
    origin: { dialect, body: received.bytes, ...(received.dropped && { dropped: received.dropped }) },
    extras: Object.keys(extras).length > 0 ? { [dialect]: extras } : {},
    headers: {},
    inputs: asked.map(({ text }) => text),
    ...(mediaTokens > 0 && { media: { parts: asked.map(({ parts }) => parts), tokens: mediaTokens } }),
    encoding: 'float',
    ...(task !== undefined && { task }),
    ...(title !== undefined && { title }),
    ...(dimensions !== undefined && { dimensions }),
  };
}

function writeCall(call: EmbedCall, model: string): Written {
  const contents = call.media?.parts ?? textsOnly(call).map((text) => [{ text }]);
  const requests = contents.map((parts) => ({
    model: resource(model),
    content: { parts },
    ...(call.task !== undefined && { taskType: call.task }),
    ...(call.title !== undefined && { title: call.title }),
    ...(call.dimensions !== undefined && { outputDimensionality: call.dimensions }),
  }));
  const warnings = unsupportedExtras(call, '');
  if (call.user !== undefined) warnings.push('`user` was dropped: the provider has no such member.');
  return { body: new TextEncoder().encode(JSON.stringify({ requests })), warnings };
}

/** Every request of a batch repeats the model. */
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
  const reported = isObject(usageMetadata) ? usageMetadata.promptTokenCount : undefined;
  return [
    { type: 'reply-start', id: '', model: call.model },
    { type: 'result', result: { type: 'vectors', vectors } },
    { type: 'usage', usage: embeddingUsage(call, reported) },
  ];
}

function batchOf(reply: Reply): JsonObject {
  return { embeddings: valuesOf(reply) };
}

function valuesOf({ result }: Reply): { values: number[] }[] {
  const vectors = result?.type === 'vectors' ? result.vectors : [];
  return vectors.toSorted((a, b) => a.index - b.index).map((vector) => ({ values: [...vectorNumbers(vector)] }));
}
