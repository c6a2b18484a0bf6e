/** OpenAI's embeddings, `POST /v1/embeddings`, including the variants of compatible providers. */

import type { EmbedCall } from '../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { Reply, ReplyEvent, Vector } from '../../canonical/reply.ts';
import type { Usage } from '../../canonical/usage.ts';
import { vectorBase64, vectorNumbers } from '../../canonical/vectors.ts';
import type { Dialect, Frame, WireRequest, Written } from '../dialect.ts';
import { type Adjustment, adjust, passOwn } from '../shared/adjust.ts';
import { extrasOf, memberCheck } from '../shared/checked-members.ts';
import { jsonReader, jsonWriter, unreadable } from '../shared/json-reply.ts';
import { billable, type MoneySpelling } from '../shared/money/money-members.ts';
import { OPENAI_ERRORS } from '../shared/openai-errors.ts';
import { readUsage } from '../shared/openai-usage.ts';
import { type OutgoingBody, WrittenBody } from '../shared/outgoing-body.ts';
import type { ModelQuirks, Quirks } from '../shared/quirks.ts';
import { parseObject, wrong } from '../shared/request-body.ts';
import { topMembers } from '../shared/request-shape.ts';
import { patchMembers, pickMembers } from '../wire/json.ts';
import { countedUsage, MOST_TEXTS, readTexts, refuseMedia, unsupportedExtras } from './embedding-texts.ts';
import { EmbeddingsRequest } from './request-schema.ts';

const NAME = 'openai-embeddings';
const MONEY: MoneySpelling = { tier: ['service_tier'], model: ['model'], read: ['input'], content: new Set(['input']) };

/** All other members are extras. */
const DECLARED = topMembers(EmbeddingsRequest);
const check = memberCheck(EmbeddingsRequest);

export const openaiEmbeddings: Dialect<EmbedCall> = {
  name: NAME,
  kind: 'embed',
  readCall,
  writer: (call) =>
    jsonWriter(
      (reply) => bodyOf(call, reply),
      (frame, reply) => passed(call, frame, reply),
    ),
  ...OPENAI_ERRORS,
  writeCall,
  passCall,
  reader: (call, _contentType, quirks) => jsonReader((body) => meaningOf(body, call, quirks)),
};

/** On the path `/v1/engines/{model}/embeddings`, the body's model must be the one in the path. */
function readCall({ body: received, path }: WireRequest): EmbedCall {
  const parsed = parseObject(received);
  const { body: members, bytes, dropped } = billable(parsed, received, MONEY);
  const { model, dimensions, encoding_format: encoding, user, input } = check(members);
  if (path.model !== undefined && path.model !== model) {
    throw wrong('model', `must be the model that the path names, \`${path.model}\``);
  }
  return {
    kind: 'embed',
    model,
    stream: false,
    origin: { dialect: NAME, body: bytes, ...(dropped && { dropped }) },
    extras: extrasOf(members, DECLARED, NAME),
    headers: {},
    inputs: readTexts(input as Json, 'input', MOST_TEXTS),
    encoding: encoding === 'base64' ? 'base64' : 'float',
    ...(typeof dimensions === 'number' && { dimensions }),
    ...(typeof user === 'string' && { user }),
  };
}

function writeCall(call: EmbedCall, model: string, quirks: Quirks): Written {
  refuseMedia(call);
  const members: JsonObject = { model, input: call.inputs };
  members.encoding_format = 'base64';
  if (call.dimensions !== undefined) members.dimensions = call.dimensions;
  if (call.user !== undefined) members.user = call.user;
  const body = new WrittenBody(Object.assign(members, call.extras[NAME]));
  const losses = new Set<string>();
  adjust(body, call, model, quirks, losses, ADJUSTMENTS);
  return { body: body.encode(), warnings: [...losses, ...unsaid(call), ...unsupportedExtras(call, NAME)] };
}

/** Members of Gemini requests that this format does not have. */
function unsaid({ task, title }: EmbedCall): string[] {
  return [
    ...(task === undefined ? [] : ['`taskType` was dropped: the model has no such parameter.']),
    ...(title === undefined ? [] : ['`title` was dropped: the model only accepts texts.']),
  ];
}

function passCall(call: EmbedCall, model: string, quirks: Quirks): Written {
  return passOwn(call, model, quirks, ADJUSTMENTS);
}

const ADJUSTMENTS: readonly Adjustment<EmbedCall>[] = [dropEncoding];

/** The gateway itself converts the vectors to the encoding that the client asked for. */
function dropEncoding(body: OutgoingBody, _call: EmbedCall, { supportsEncodingFormat }: ModelQuirks): void {
  if (!supportsEncodingFormat) body.set('encoding_format', undefined);
}

function meaningOf(body: JsonObject, call: EmbedCall, { returnsInt8Vectors }: Quirks): ReplyEvent[] {
  const { data, usage } = body;
  if (!Array.isArray(data) || data.length !== call.inputs.length) throw unreadable();
  const vectors = data.map((row, place) => vectorOf(row, place, returnsInt8Vectors === true));
  const events: ReplyEvent[] = [
    { type: 'reply-start', id: typeof body.id === 'string' ? body.id : '', model: call.model },
    { type: 'result', result: { type: 'vectors', vectors } },
  ];
  events.push({ type: 'usage', usage: usageOf(isObject(usage) ? usage : {}, call) });
  return events;
}

/**
 * Providers report the input by its own name or as the total. Zero counts as missing, because texts are never empty.
 */
function usageOf(raw: JsonObject, call: EmbedCall): Usage {
  const counted = countedUsage(call);
  const read = readUsage({ ...raw, prompt_tokens: raw.prompt_tokens || (raw.total_tokens ?? 0) }, {});
  return read && read.input > 0 ? { ...counted, ...read, output: 0 } : counted;
}

function vectorOf(row: Json, place: number, returnsInt8Vectors: boolean): Vector {
  if (!isObject(row)) throw unreadable();
  const { embedding, index } = row;
  const at = typeof index === 'number' ? index : place;
  if (typeof embedding === 'string') {
    if (!returnsInt8Vectors) return { index: at, values: embedding };
    return { index: at, values: [...new Int8Array(Buffer.from(embedding, 'base64'))], converted: true };
  }
  if (!Array.isArray(embedding) || typeof embedding[0] !== 'number') throw unreadable();
  return { index: at, values: embedding as number[] };
}

/**
 * Passes the provider's own body on, with the caller's model name, if its vectors are in order and in the requested
 * encoding.
 */
function passed(call: EmbedCall, frame: Frame, reply: Reply): Uint8Array {
  const vectors = reply.result?.type === 'vectors' ? reply.result.vectors : [];
  const asAsked = vectors.every(
    ({ index, values, converted }, place) =>
      index === place && !converted && (typeof values === 'string') === (call.encoding === 'base64'),
  );
  if (asAsked && reply.usage?.source === 'reported') {
    return patchMembers(frame.bytes, {
      model: call.model,
      ...(!saysCountsAlone(frame.bytes) && { usage: countsOf(reply.usage) }),
    });
  }
  return new TextEncoder().encode(JSON.stringify(bodyOf(call, reply)));
}

function bodyOf(call: EmbedCall, { result, usage }: Reply): JsonObject {
  const vectors = result?.type === 'vectors' ? result.vectors : [];
  const data = vectors
    .toSorted((a, b) => a.index - b.index)
    .map((vector) => ({
      object: 'embedding',
      index: vector.index,
      embedding: call.encoding === 'base64' ? vectorBase64(vector) : [...vectorNumbers(vector)],
    }));
  return { object: 'list', data, model: call.model, usage: countsOf(usage) };
}

/** The counts of an embeddings response (docs/api.md#embeddings). */
function countsOf(usage: Usage | undefined): JsonObject {
  const tokens = usage?.input ?? 0;
  return { prompt_tokens: tokens, total_tokens: tokens };
}

function saysCountsAlone(body: Uint8Array): boolean {
  const { usage } = pickMembers(body, new Set(['usage']));
  return isObject(usage) && Object.keys(usage).toSorted().join() === 'prompt_tokens,total_tokens';
}
