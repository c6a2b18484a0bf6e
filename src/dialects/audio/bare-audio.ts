/** Reads a reply that is the audio itself, without JSON or events around it. */
import type { SpeechCall } from '../../canonical/call.ts';
import { isObject } from '../../canonical/json.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Frame, Reader } from '../dialect.ts';
import { jsonReader, unreadable } from '../shared/json-reply.ts';
import { readErrorObject } from '../shared/openai-errors.ts';
import { joinBytes } from '../wire/json.ts';
import { speechCounter } from './speech-count.ts';

/** `first`: bytes that the client receives before the audio, such as a WAV header. */
export function bareAudioReader(call: SpeechCall, contentType: string, first?: Uint8Array): Reader {
  return /json|^text\//.test(contentType) ? refusalReader() : audioReader(call, first);
}

export const audioEvent = (bytes: Uint8Array): ReplyEvent => ({ type: 'result', result: { type: 'audio', bytes } });

/**
 * Holds the last byte back until the audio has ended, so that a client never takes an aborted reply for a complete one.
 */
function audioReader(call: SpeechCall, first: Uint8Array = new Uint8Array()): Reader {
  const count = speechCounter(call);
  let held: Uint8Array = new Uint8Array();
  let before = first;
  const frameOf = (bytes: Uint8Array, ...ending: ReplyEvent[]): Frame => ({
    bytes,
    events: [audioEvent(bytes), { type: 'usage', usage: count(bytes) }, ...ending],
  });
  return {
    read(chunk) {
      if (chunk.length === 0) return [];
      const ready = joinBytes([before, held, chunk.subarray(0, -1)]);
      before = new Uint8Array();
      held = chunk.slice(-1);
      return ready.length > 0 ? [frameOf(ready)] : [];
    },
    end: () =>
      held.length > 0
        ? [frameOf(held, { type: 'reply-end' })]
        : [{ bytes: held, events: [{ type: 'error', error: unreadable() }] }],
  };
}

/** Reads a text or JSON reply where audio was expected: it is an error. */
function refusalReader(): Reader {
  return jsonReader((body) => {
    throw isObject(body.error) ? readErrorObject(body.error) : unreadable();
  });
}
