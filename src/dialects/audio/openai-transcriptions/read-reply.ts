/** Reads a transcript: a body in the requested format, or a stream of events. */
import type { TranscriptionCall } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import type { Frame, Reader } from '../../dialect.ts';
import { unreadable } from '../../shared/json-reply.ts';
import { readErrorObject } from '../../shared/openai-errors.ts';
import { readUsage } from '../../shared/openai-usage.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { joinBytes } from '../../wire/json.ts';
import { SseCutter, type SseEvent } from '../../wire/sse.ts';
import { transcriptIn } from './transcript-formats.ts';

const TEXTS = new Set(['text', 'srt', 'vtt']);
const BYTES_PER_TOKEN = 4;
const TOKENS_PER_SECOND = 10;

export const isText = ({ format = 'json' }: TranscriptionCall): boolean => TEXTS.has(format);

export function createReader(call: TranscriptionCall, contentType: string, quirks: Quirks): Reader {
  return contentType.includes('event-stream') ? eventReader(call) : bodyReader(call, quirks);
}

function bodyReader(call: TranscriptionCall, { transcripts }: Quirks): Reader {
  const chunks: Uint8Array[] = [];
  return {
    read(chunk) {
      chunks.push(chunk);
      return [];
    },
    end() {
      const bytes = joinBytes(chunks);
      const whole = Buffer.from(bytes).toString();
      const body = objectIn(whole);
      if (transcripts === undefined || typeof body?.text !== 'string')
        return [{ bytes, events: meaningOf(whole, body, call) }];
      const made = transcriptIn(call.format ?? 'json', body, secondsIn(body) ?? call.length.seconds);
      if (made === undefined) return [{ bytes, events: [{ type: 'error', error: untimed() }] }];
      return [{ bytes: Buffer.from(made), events: meaningOf(made, body, call) }];
    },
  };
}

const untimed = () => new GatewayError('upstream_failed', 'The provider returned no timestamps.');

function meaningOf(whole: string, body: JsonObject | undefined, call: TranscriptionCall): ReplyEvent[] {
  if (body && isObject(body.error)) return [{ type: 'error', error: readErrorObject(body.error) }];
  const text = isText(call) ? whole : body?.text;
  if (typeof text !== 'string' || /^\s*<(!doctype|html)/i.test(text)) return [{ type: 'error', error: unreadable() }];
  return [
    { type: 'result', result: { type: 'transcript', text, isWhole: true } },
    { type: 'usage', usage: usageOf(body ?? {}, text, call) },
    { type: 'reply-end' },
  ];
}

/** Tokens or seconds as the provider reports them; otherwise the length of the audio. */
function usageOf(body: JsonObject, text: string, { length }: TranscriptionCall): Usage {
  const usage = isObject(body.usage) ? body.usage : {};
  const statedSeconds = secondsIn(body);
  const seconds = statedSeconds ?? lastCue(text) ?? length.seconds;
  const details = isObject(usage.input_token_details) ? usage.input_token_details : {};
  const reported = readUsage({ ...usage, input_tokens_details: details }, {});
  if (reported && reported.input > 0) return { ...reported, seconds };
  const heard = Math.ceil(seconds * TOKENS_PER_SECOND);
  const output = Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
  return {
    input: heard,
    audioInput: heard,
    output,
    seconds,
    source: statedSeconds === undefined ? 'counted' : 'reported',
  };
}

function secondsIn({ usage, duration }: JsonObject): number | undefined {
  const { seconds, prompt_audio_seconds: heard } = isObject(usage) ? usage : {};
  return [seconds, duration, heard].map(Number).find((one) => one > 0 && Number.isFinite(one));
}

/** The end time of the last subtitle. */
function lastCue(text: string): number | undefined {
  const [, hours = '0', minutes, seconds] =
    [...text.matchAll(/-->\s*(?:(\d+):)?(\d{2}):(\d{2}[.,]\d{3})/g)].at(-1) ?? [];
  if (minutes === undefined || seconds === undefined) return undefined;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds.replace(',', '.'));
}

function eventReader(call: TranscriptionCall): Reader {
  const cutter = new SseCutter();
  let text = '';
  let isHeard = false;
  let over = false;

  function eventsOf({ data = '' }: SseEvent): ReplyEvent[] {
    if (over) return [];
    const payload = objectIn(data) ?? {};
    if (isObject(payload.error)) return ending({ type: 'error', error: readErrorObject(payload.error) });
    const type = typeof payload.type === 'string' ? payload.type : '';
    if (type.endsWith('.done') || data === '[DONE]')
      return [{ type: 'usage', usage: usageOf(payload, text, call) }, ...ending({ type: 'reply-end' })];
    const words = payload.delta ?? payload.text;
    if (data === '' || (type !== '' && typeof words !== 'string')) return [];
    if (typeof words === 'string' && payload.delta !== undefined) text += words;
    const piece = typeof words === 'string' ? words : '';
    const result: ReplyEvent = { type: 'result', result: { type: 'transcript', text: piece, isWhole: false } };
    if (isHeard) return [result];
    isHeard = true;
    // The audio has been heard: a client that leaves before the report at the end pays for it.
    return [result, { type: 'usage', usage: { ...usageOf({}, '', call), source: 'partial' } }];
  }

  function ending(event: ReplyEvent): ReplyEvent[] {
    over = true;
    return [event];
  }

  const frameOf = (event: SseEvent): Frame => ({ bytes: renamed(event), events: eventsOf(event) });
  const brokeOff = () => new GatewayError('upstream_failed', 'The reply broke off before it was complete.');
  return {
    read: (chunk) => cutter.read(chunk).map(frameOf),
    end() {
      const left = cutter.end().map(frameOf);
      return over ? left : [...left, { bytes: new Uint8Array(), events: [{ type: 'error', error: brokeOff() }] }];
    },
  };
}

/** Renames Mistral's events to OpenAI's. Events without a counterpart are dropped. */
function renamed({ bytes, data = '' }: SseEvent): Uint8Array {
  if (!data.includes('"transcription.')) return bytes;
  const { type, text, usage } = objectIn(data) ?? {};
  if (type === 'transcription.text.delta') return eventBytes({ type: 'transcript.text.delta', delta: text ?? '' });
  if (type !== 'transcription.done') return new Uint8Array();
  const { input = 0, output = 0 } = readUsage(isObject(usage) ? usage : {}, {}) ?? {};
  const tokens = { type: 'tokens', input_tokens: input, output_tokens: output, total_tokens: input + output };
  return eventBytes({ type: 'transcript.text.done', text: text ?? '', usage: tokens });
}

const eventBytes = (event: JsonObject): Uint8Array => Buffer.from(`data: ${JSON.stringify(event)}\n\n`);

function objectIn(text: string): JsonObject | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}
