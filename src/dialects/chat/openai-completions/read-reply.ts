/** Splits a text completion reply, streaming or not, into frames and converts them to events. */
import { entryOf } from '../../../canonical/entry-of.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Finish, FinishReason, ReplyEvent } from '../../../canonical/reply.ts';
import type { Frame, Reader } from '../../dialect.ts';
import { objectReader } from '../../shared/json-reply.ts';
import { parsedJson, textOf } from '../../shared/json-values.ts';
import { readErrorObject } from '../../shared/openai-errors.ts';
import { readUsage } from '../../shared/openai-usage.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { SseCutter, type SseEvent } from '../../wire/sse.ts';
import { brokeOff, unreadable, unreadableEvent } from '../reply/sse-reader.ts';
import { readLogprobs } from './logprobs.ts';

/** A frame with the position of its JSON object. */
export interface CompletionFrame extends Frame {
  /** -1 if the frame has none. */
  readonly jsonStart: number;
}

const FINISH_REASONS: { readonly [word: string]: FinishReason } = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
};

const NO_BYTES = new Uint8Array(0);

export function createReader(contentType: string, quirks: Quirks): Reader {
  return contentType.includes('text/event-stream') ? streamReader(quirks) : jsonReader(quirks);
}

function streamReader(quirks: Quirks): Reader {
  const cutter = new SseCutter();
  const decode = createDecoder(quirks);
  let ended = false;

  function frameOf(event: SseEvent): CompletionFrame {
    const { bytes, data } = event;
    const events: ReplyEvent[] = [];
    let jsonStart = -1;
    if (data?.trim() === '[DONE]') {
      if (!ended) events.push({ type: 'reply-end' });
      ended = true;
    } else if (data !== undefined && data !== '' && !ended) {
      const payload = parsedJson(data);
      if (isObject(payload)) {
        jsonStart = event.dataEnd > 0 ? event.dataStart : -1;
        decode.chunk(payload, events);
        ended = events.some((found) => found.type === 'error');
      } else events.push(unreadableEvent());
    }
    return { bytes, events, jsonStart };
  }

  return {
    read: (chunk) => cutter.read(chunk).map(frameOf),
    end() {
      const frames: Frame[] = cutter.end().map(frameOf);
      if (!ended) {
        const last: ReplyEvent = decode.isComplete() ? { type: 'reply-end' } : { type: 'error', error: brokeOff() };
        frames.push({ bytes: NO_BYTES, events: [last] });
      }
      ended = true;
      return frames;
    },
  };
}

function jsonReader(quirks: Quirks): Reader {
  return objectReader((payload, bytes) => {
    const events: ReplyEvent[] = [];
    if (payload) createDecoder(quirks).chunk(payload, events);
    else events.push({ type: 'error', error: unreadable() });
    if (!events.some((event) => event.type === 'error')) events.push({ type: 'reply-end' });
    const frame: CompletionFrame = { bytes, events, jsonStart: 0 };
    return [frame];
  });
}

/** Converts the objects of one reply to events. Remembers which choices have begun and ended. */
function createDecoder(quirks: Quirks) {
  let started = false;
  const open = new Map<number, { text: boolean; ended: boolean }>();

  function chunk(payload: JsonObject, events: ReplyEvent[]): void {
    if (payload.error !== undefined && payload.error !== null) {
      events.push({ type: 'error', error: readErrorObject(payload.error) });
      return;
    }
    if (!started) {
      started = true;
      const created = payload.created;
      events.push({
        type: 'reply-start',
        id: textOf(payload.id),
        model: textOf(payload.model),
        ...(typeof created === 'number' && { createdSeconds: created }),
      });
    }
    const choices = Array.isArray(payload.choices) ? payload.choices : [];
    for (const choice of choices) if (isObject(choice)) readChoice(choice, events);
    const usage = isObject(payload.usage) ? readUsage(payload.usage, quirks) : undefined;
    if (usage) events.push({ type: 'usage', usage });
  }

  function readChoice(choice: JsonObject, events: ReplyEvent[]): void {
    const index = typeof choice.index === 'number' ? choice.index : 0;
    let state = open.get(index);
    if (!state) {
      state = { text: false, ended: false };
      open.set(index, state);
    }
    if (state.ended) return;
    const at = { choice: index, part: 0 };
    const text = textOf(choice.text);
    const logprobs = readLogprobs(choice.logprobs);
    if (!state.text && (text !== '' || logprobs.length > 0)) {
      state.text = true;
      events.push({ type: 'part-start', ...at, opens: { type: 'text' } });
    }
    if (text !== '') events.push({ type: 'part-delta', ...at, delta: text });
    if (logprobs.length > 0) events.push({ type: 'part-logprobs', ...at, logprobs });
    const raw = choice.finish_reason;
    if (typeof raw !== 'string' || raw === '') return;
    state.ended = true;
    if (state.text) events.push({ type: 'part-end', ...at });
    events.push({ type: 'choice-end', choice: index, finish: finishOf(raw, choice.stop_reason) });
  }

  return {
    chunk,
    /** Whether every choice that began has a finish reason. */
    isComplete: () => open.size > 0 && [...open.values()].every((state) => state.ended),
  };
}

/** vLLM reports the stop sequence beside the finish reason. */
function finishOf(raw: string, stopSequence: Json | undefined): Finish {
  const reason = entryOf(FINISH_REASONS, raw) ?? 'other';
  if (reason !== 'stop' || typeof stopSequence !== 'string') return { reason, raw };
  return { reason: 'stop-sequence', raw, stopSequence };
}
