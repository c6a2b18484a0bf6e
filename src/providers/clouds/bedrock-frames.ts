/** Bedrock's envelope around streams in a model's own format: binary frames with one event each, as base64. */
import { GatewayError } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../canonical/json.ts';
import { parsedJson } from '../../dialects/shared/json-values.ts';
import { EVENT_STREAM_TYPE, EventStreamCutter, type EventStreamMessage } from '../../dialects/wire/event-stream.ts';
import type { FrameReader, Framing } from '../../dialects/wire/framing.ts';

/** The error types of Anthropic messages for the envelope's exceptions. */
const TYPES: { readonly [exception: string]: string } = {
  validationException: 'invalid_request_error',
  throttlingException: 'rate_limit_error',
  serviceUnavailableException: 'overloaded_error',
  modelTimeoutException: 'timeout_error',
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Unwraps a messages stream to the SSE stream that Anthropic itself sends. */
export const MESSAGES_IN_FRAMES: Framing = {
  holds: (contentType) => contentType.includes(EVENT_STREAM_TYPE),
  inner: 'text/event-stream',
  open: openFrames,
};

function openFrames(): FrameReader {
  const cutter = new EventStreamCutter();
  return {
    read(chunk) {
      const events = cutter.read(chunk).map(asEvent).join('');
      return encoder.encode(events);
    },
    end: () => cutter.end(),
  };
}

function asEvent({ headers, payload }: EventStreamMessage): string {
  const parsed = parsedJson(decoder.decode(payload));
  if (headers[':message-type'] !== 'event') {
    const exception = headers[':exception-type'] ?? '';
    const message = isObject(parsed) ? (parsed.message ?? '') : '';
    return written({ type: 'error', error: { type: TYPES[exception] ?? 'api_error', message } });
  }
  if (!isObject(parsed) || typeof parsed.bytes !== 'string') return '';
  const event = parsedJson(Buffer.from(parsed.bytes, 'base64').toString());
  if (!isObject(event)) throw new GatewayError('upstream_failed', 'The model sent a reply that cannot be read.');
  return typeof event.type === 'string' ? written(event) : '';
}

function written(event: JsonObject): string {
  return `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`;
}
