/** OpenAI's moderations, `POST /v1/moderations`. */
import type { ModerationCall } from '../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Dialect, WireRequest, Written } from '../dialect.ts';
import { memberCheck } from '../shared/checked-members.ts';
import { jsonReader, jsonWriter, unreadable } from '../shared/json-reply.ts';
import { billable, type MoneySpelling } from '../shared/money/money-members.ts';
import { OPENAI_ERRORS } from '../shared/openai-errors.ts';
import { readUsage } from '../shared/openai-usage.ts';
import { OwnBody } from '../shared/outgoing-body.ts';
import { parseObject, wrong } from '../shared/request-body.ts';
import { patchMembers } from '../wire/json.ts';
import { ModerationsRequest } from './request-schema.ts';

const MONEY: MoneySpelling = { tier: ['service_tier'], model: ['model'], read: ['input'], content: new Set(['input']) };
const NAME = 'openai-moderations';
/** OpenAI's default model. */
const USUAL_MODEL = 'omni-moderation-latest';

const check = memberCheck(ModerationsRequest);

export const openaiModerations: Dialect<ModerationCall> = {
  name: NAME,
  kind: 'moderation',
  readCall,
  writer: (call) =>
    jsonWriter(
      ({ id, result }) => ({ id, model: call.model, results: result?.type === 'ratings' ? result.ratings : [] }),
      (frame) => patchMembers(frame.bytes, { model: call.model }),
    ),
  ...OPENAI_ERRORS,
  writeCall: passCall,
  passCall,
  reader: (call) => jsonReader((body) => meaningOf(body, call)),
};

function readCall({ body: received }: WireRequest): ModerationCall {
  const parsed = parseObject(received);
  const { body, bytes, dropped } = billable(parsed, received, MONEY);
  const { model = USUAL_MODEL, input: given } = check(body);
  const input = given as Json;
  const inputs = Array.isArray(input) ? input : [input];
  if (inputs.length === 0) throw wrong('input', 'must not be empty');
  const texts = inputs.map((one, place) => textOf(one, Array.isArray(input) ? `input[${place}]` : 'input'));
  return {
    kind: 'moderation',
    model,
    stream: false,
    origin: { dialect: NAME, body: bytes, ...(dropped && { dropped }) },
    extras: {},
    headers: {},
    texts,
  };
}

function textOf(input: Json | undefined, path: string): string {
  if (typeof input === 'string') return input;
  if (!isObject(input)) throw wrong(path, 'must be a text, or an object with a text or an image');
  return typeof input.text === 'string' ? input.text : '';
}

function passCall({ origin }: ModerationCall, model: string): Written {
  const body = new OwnBody(origin.body);
  body.set('model', model);
  return { body: body.encode(), warnings: [] };
}

const BYTES_PER_TOKEN = 4;

function meaningOf({ id, results, usage }: JsonObject, call: ModerationCall): ReplyEvent[] {
  if (!Array.isArray(results) || !results.every(isObject)) throw unreadable();
  const input = Math.ceil(Buffer.byteLength(call.texts.join('')) / BYTES_PER_TOKEN);
  const reported = isObject(usage) ? readUsage(usage, {}) : undefined;
  return [
    { type: 'reply-start', id: typeof id === 'string' ? id : '', model: call.model },
    { type: 'result', result: { type: 'ratings', ratings: results } },
    { type: 'usage', usage: reported && reported.input > 0 ? reported : { input, output: 0, source: 'counted' } },
  ];
}
