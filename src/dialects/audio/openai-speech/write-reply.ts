/** Writes speech: raw audio, or events that contain it. */
import type { SpeechCall } from '../../../canonical/call.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import type { Frame, Writer } from '../../dialect.ts';
import { openaiErrorObject } from '../../shared/error-bodies.ts';
import { joinBytes } from '../../wire/json.ts';
import { mimeTypeOf } from '../speech-formats.ts';
import { deltaEvent, doneEvent, writeEvent } from './events.ts';

const NO_BYTES = new Uint8Array();
const NO_WARNINGS: readonly string[] = [];
const encoder = new TextEncoder();

export function createWriter(call: SpeechCall): Writer {
  return call.asEvents ? eventWriter() : audioWriter(call);
}

/** Raw audio has no way to report an error and no bytes to keep an idle connection open, so its calls are `mute`. */
function audioWriter({ format }: SpeechCall): Writer {
  const audioIn = ({ events }: Frame): Uint8Array => joinBytes(events.flatMap(audioOf));
  return {
    contentType: mimeTypeOf(format),
    warnings: NO_WARNINGS,
    write: audioIn,
    pass: audioIn,
    end: () => NO_BYTES,
    fail: () => NO_BYTES,
    keepAlive: () => NO_BYTES,
  };
}

function audioOf(event: ReplyEvent): Uint8Array[] {
  return event.type === 'result' && event.result.type === 'audio' ? [event.result.bytes] : [];
}

function eventWriter(): Writer {
  let usage: Usage | undefined;
  let isOwn = false;

  function write(frame: Frame): Uint8Array {
    let text = '';
    for (const event of frame.events) {
      if (event.type === 'usage') usage = event.usage;
      for (const bytes of audioOf(event)) text += writeEvent(deltaEvent(bytes));
    }
    return encoder.encode(text);
  }

  return {
    contentType: 'text/event-stream; charset=utf-8',
    warnings: NO_WARNINGS,
    write,
    pass(frame) {
      isOwn = !frame.events.flatMap(audioOf).includes(frame.bytes);
      return isOwn ? frame.bytes : write(frame);
    },
    end: () => (isOwn ? NO_BYTES : encoder.encode(writeEvent(doneEvent(usage)))),
    fail: (error) => encoder.encode(writeEvent({ type: 'error', error: openaiErrorObject(error) })),
    keepAlive: () => encoder.encode(': keep-alive\n\n'),
  };
}
