/** Reads images: one JSON body, or a stream with partial images. */
import type { ImageCall } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import { addUsage, type Usage } from '../../../canonical/usage.ts';
import type { Frame, Reader } from '../../dialect.ts';
import { jsonReader, unreadable } from '../../shared/json-reply.ts';
import { readErrorObject } from '../../shared/openai-errors.ts';
import { readUsage } from '../../shared/openai-usage.ts';
import { SseCutter, type SseEvent } from '../../wire/sse.ts';
import { typeOfBase64, typeOfFormat } from '../image-type.ts';
import { OPENAI_IMAGES } from './name.ts';

export function createReader(call: ImageCall, contentType: string): Reader {
  return contentType.includes('event-stream') ? streamReader(call) : jsonReader((body) => meaningOf(body, call));
}

const SETTINGS = ['size', 'quality', 'background', 'output_format'] as const;

function meaningOf(body: JsonObject, call: ImageCall): ReplyEvent[] {
  const { created, usage } = body;
  // SiliconFlow's name for `data`.
  const data = body.data ?? body.images;
  if (isObject(body.error)) throw readErrorObject(body.error);
  if (!Array.isArray(data) || data.length === 0) throw unreadable();
  const made = data.filter(isMade);
  if (made.length === 0) throw notMade(data);
  const extras: JsonObject = {};
  for (const name of SETTINGS) if (typeof body[name] === 'string') extras[name] = body[name];
  return [
    {
      type: 'reply-start',
      id: '',
      model: call.model,
      ...(typeof created === 'number' && { createdSeconds: created }),
      ...(Object.keys(extras).length > 0 && { extras }),
    },
    ...made.flatMap((image, choice) => imageEvents(image, choice, call)),
    { type: 'usage', usage: { ...madeWords(body), ...usageOf(usage, made.length), ...handedOver(call) } },
  ];
}

/** Some providers filter single images and put the reason in the image's place. */
function isMade(image: Json): boolean {
  return isObject(image) && (isFilled(image.b64_json) || isFilled(image.url));
}

const isFilled = (value: Json | undefined) => typeof value === 'string' && value !== '';

/** Error codes of failures at the provider. All other codes are refusals. */
const FAILURE = /internal|unavailable|timeout/i;
const REFUSAL = { type: 'invalid_request_error' };

function notMade([first]: readonly Json[]): GatewayError {
  const { error } = isObject(first) ? first : {};
  if (isObject(error)) return readErrorObject({ ...(!FAILURE.test(String(error.code)) && REFUSAL), ...error });
  const sentence = "The provider's content filter removed the image.";
  return isObject(first) && first.respect_moderation === false
    ? new GatewayError('upstream_refused', sentence, { providerCode: 'content_filter' })
    : unreadable();
}

function imageEvents(image: Json, choice: number, { format }: ImageCall): ReplyEvent[] {
  if (!isObject(image)) throw unreadable();
  const { b64_json: base64, url, mime_type: mime, revised_prompt: revised } = image;
  if (typeof base64 !== 'string' && typeof url !== 'string') throw unreadable();
  const seen = typeof base64 === 'string' ? typeOfBase64(base64) : undefined;
  const mimeType = seen ?? (typeof mime === 'string' ? mime : typeOfFormat(format ?? 'png'));
  const opens = {
    type: 'image' as const,
    mimeType,
    ...(typeof base64 !== 'string' && typeof url === 'string' && { url }),
    ...(typeof revised === 'string' && revised !== '' && { revisedPrompt: revised }),
  };
  return [
    { type: 'part-start', choice, part: 0, opens },
    ...(typeof base64 === 'string' ? [{ type: 'part-delta' as const, choice, part: 0, delta: base64 }] : []),
    { type: 'part-end', choice, part: 0 },
    { type: 'choice-end', choice, finish: { reason: 'stop' } },
  ];
}

const handedOver = ({ images }: ImageCall) => (images.length > 0 ? { inputImages: images.length } : {});

/** Tokens if the provider reports them, and always the number of images. */
function usageOf(raw: Json | undefined, images: number): Usage {
  if (!isObject(raw) || (raw.input_tokens ?? raw.prompt_tokens ?? raw.output_tokens) === undefined)
    return { input: 0, output: 0, images, source: 'reported' };
  const usage = readUsage(raw, {});
  // Zero tokens mean that the provider does not count tokens.
  if (!usage || usage.input + usage.output === 0) return { input: 0, output: 0, images, source: 'counted' };
  return { ...usage, imageOutput: usage.imageOutput ?? usage.output, images };
}

/** Usage is stored with the call. The longest known size has nine characters. */
const LONGEST_WORD = 64;
const isWord = (value: Json | undefined): value is string => typeof value === 'string' && value.length <= LONGEST_WORD;

/** The size and quality that the provider reports. With `auto` the provider chooses them. */
function madeWords({ size, quality }: JsonObject): Pick<Usage, 'size' | 'quality'> {
  return { ...(isWord(size) && { size }), ...(isWord(quality) && { quality }) };
}

function streamReader(call: ImageCall): Reader {
  const cutter = new SseCutter();
  let images = 0;
  let usage: Usage | undefined;
  let failed = false;

  function eventsOf(event: SseEvent): ReplyEvent[] {
    const payload = payloadOf(event);
    if (!payload || failed) return [];
    if (isObject(payload.error)) return fail(readErrorObject(payload.error));
    const type = typeof payload.type === 'string' ? payload.type : '';
    if (type.endsWith('.partial_image'))
      return [{ type: 'aside', dialect: OPENAI_IMAGES, members: payload, isPartialImage: true }];
    if (!type.endsWith('.completed')) return [];
    const own = { ...madeWords(payload), ...usageOf(payload.usage, 1), ...(images === 0 && handedOver(call)) };
    usage = usage ? addUsage(usage, own) : own;
    const { created_at: created } = payload;
    const start: ReplyEvent = {
      type: 'reply-start',
      id: '',
      model: call.model,
      ...(typeof created === 'number' && { createdSeconds: created }),
    };
    const events = imageEvents(payload, images++, call);
    return [...(images === 1 ? [start] : []), ...events, { type: 'usage', usage }];
  }

  function fail(error: GatewayError): ReplyEvent[] {
    failed = true;
    return [{ type: 'error', error }];
  }

  function ending(): ReplyEvent[] {
    if (failed) return [];
    return images > 0 ? [{ type: 'reply-end' }] : [{ type: 'error', error: unreadable() }];
  }

  return {
    read: (chunk) => cutter.read(chunk).map((event): Frame => ({ bytes: event.bytes, events: eventsOf(event) })),
    end() {
      const left = cutter.end().map((event): Frame => ({ bytes: event.bytes, events: eventsOf(event) }));
      return [...left, { bytes: new Uint8Array(), events: ending() }];
    },
  };
}

function payloadOf({ data }: SseEvent): JsonObject | undefined {
  try {
    const payload: unknown = JSON.parse(data ?? '');
    return isObject(payload) ? payload : undefined;
  } catch {
    return undefined;
  }
}
