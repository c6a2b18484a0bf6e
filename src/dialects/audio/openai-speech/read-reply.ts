/** Reads speech: raw audio, or events that contain it and report usage. */
import type { SpeechCall } from '../../../canonical/call.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import type { Frame, Reader } from '../../dialect.ts';
import { unreadable } from '../../shared/json-reply.ts';
import { readErrorObject } from '../../shared/openai-errors.ts';
import { readUsage } from '../../shared/openai-usage.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { SseCutter, type SseEvent } from '../../wire/sse.ts';
import { wholeSamples } from '../../wire/wave.ts';
import { audioEvent, bareAudioReader } from '../bare-audio.ts';
import { speechCounter } from '../speech-count.ts';
import { deltaEvent, doneEvent, writeEvent } from './events.ts';

export function createReader(call: SpeechCall, contentType: string, quirks: Quirks): Reader {
  if (contentType.includes('event-stream')) return eventReader(call, quirks);
  return bareAudioReader(call, contentType);
}

function eventReader(call: SpeechCall, { returnsFloatSamples, supportsSpeechEvents }: Quirks): Reader {
  const cutter = new SseCutter();
  const count = speechCounter(call);
  let over = false;
  let counted: Usage | undefined;

  function eventsOf({ data }: SseEvent): ReplyEvent[] {
    const payload = over ? undefined : payloadOf(data);
    if (!payload) return [];
    if (isObject(payload.error)) return ending({ type: 'error', error: readErrorObject(payload.error) });
    const audio = payload.audio ?? payload.audio_data;
    if (payload.type === 'speech.audio.delta' && typeof audio === 'string') {
      const bytes = audioIn(Buffer.from(audio, 'base64'));
      counted = count(bytes);
      return [audioEvent(bytes), { type: 'usage', usage: counted }];
    }
    if (payload.type !== 'speech.audio.done') return [];
    if (!counted) return ending({ type: 'error', error: unreadable() });
    const usage = isObject(payload.usage) ? reported(payload.usage, counted) : counted;
    return [{ type: 'usage', usage }, ...ending({ type: 'reply-end' })];
  }

  let cut: Uint8Array = new Uint8Array();
  /** Only complete 16-bit samples; the rest of a split sample waits for the next chunk. */
  function audioIn(bytes: Buffer): Buffer {
    if (!returnsFloatSamples || call.format !== 'pcm') return bytes;
    const floats = Buffer.concat([cut, bytes]);
    cut = floats.subarray(floats.length - (floats.length % FLOAT_BYTES));
    return wholeSamples(floats);
  }

  function ending(event: ReplyEvent): ReplyEvent[] {
    over = true;
    return [event];
  }

  const isForeign = supportsSpeechEvents === 'stream' && call.asEvents;
  const frameOf = (event: SseEvent): Frame => {
    const events = eventsOf(event);
    return { bytes: isForeign ? rewritten(events) : event.bytes, events };
  };
  return {
    read: (chunk) => cutter.read(chunk).map(frameOf),
    end() {
      const left = cutter.end().map(frameOf);
      return over ? left : [...left, { bytes: new Uint8Array(), events: [{ type: 'error', error: unreadable() }] }];
    },
  };
}

/** Writes another provider's events as OpenAI's. */
function rewritten(events: readonly ReplyEvent[]): Uint8Array {
  const isOver = events.some(({ type }) => type === 'reply-end');
  const written = events.flatMap((event): object[] => {
    if (event.type === 'usage' && isOver) return [doneEvent(event.usage)];
    if (event.type !== 'result' || event.result.type !== 'audio') return [];
    return [deltaEvent(event.result.bytes)];
  });
  return Buffer.from(written.map(writeEvent).join(''));
}

/** All output of a speech model is audio. */
function reported(raw: JsonObject, counted: Usage): Usage {
  const { characters, seconds } = counted;
  const usage = readUsage(raw, {});
  if (!usage || usage.output === 0) return counted;
  return {
    ...usage,
    audioOutput: usage.output,
    ...(characters !== undefined && { characters }),
    ...(seconds !== undefined && { seconds }),
  };
}

const FLOAT_BYTES = 4;

function payloadOf(data: string | undefined): JsonObject | undefined {
  try {
    const payload: unknown = JSON.parse(data ?? '');
    return isObject(payload) ? payload : undefined;
  } catch {
    return undefined;
  }
}
