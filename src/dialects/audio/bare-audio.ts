/** Reads audio that comes as such, without an envelope. */
import type { SpeechCall } from '../../canonical/call.ts';
import { isObject } from '../../canonical/json.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Frame, Reader } from '../dialect.ts';
import { unreadable, wholeReader } from '../shared/json-reply.ts';
import { readErrorObject } from '../shared/openai-errors.ts';
import { joinBytes } from '../wire/json.ts';
import { speechCounter } from './speech-count.ts';

/** `first`: what the client is given before the audio. */
export function bareAudioReader(call: SpeechCall, contentType: string, first?: Uint8Array): Reader {
  return /json|^text\//.test(contentType) ? refusalReader() : audioReader(call, first);
}

export const audioEvent = (bytes: Uint8Array): ReplyEvent => ({ type: 'result', result: { type: 'audio', bytes } });

/** The last byte is kept back until the audio has ended: no client takes a reply for complete that is not. */
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

/** Words where audio was asked for. */
function refusalReader(): Reader {
  return wholeReader((body) => {
    throw isObject(body.error) ? readErrorObject(body.error) : unreadable();
  });
}
