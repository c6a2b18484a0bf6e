/** Writes speech: bare sound, or events that hold it. */
import type { SpeechCall } from '../../canonical/call.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { Frame, Writer } from '../dialect.ts';
import { openaiErrorObject } from '../error-bodies.ts';
import { joinBytes } from '../json.ts';
import { mimeTypeOf } from '../speech-formats.ts';

const NO_BYTES = new Uint8Array();
const NO_WARNINGS: readonly string[] = [];
const encoder = new TextEncoder();

export function createWriter(call: SpeechCall): Writer {
  return call.asEvents ? eventWriter() : soundWriter(call);
}

/** Bare sound has no word for a failure and nothing to fill a silence with: a call for it is `mute`. */
function soundWriter({ format }: SpeechCall): Writer {
  const soundIn = ({ events }: Frame): Uint8Array => joinBytes(events.flatMap(soundOf));
  return {
    contentType: mimeTypeOf(format),
    warnings: NO_WARNINGS,
    write: soundIn,
    pass: soundIn,
    end: () => NO_BYTES,
    fail: () => NO_BYTES,
    keepAlive: () => NO_BYTES,
  };
}

function soundOf(event: ReplyEvent): Uint8Array[] {
  return event.type === 'result' && event.result.type === 'sound' ? [event.result.bytes] : [];
}

function eventWriter(): Writer {
  let usage: Usage | undefined;
  let isOwn = false;

  function write(frame: Frame): Uint8Array {
    let text = '';
    for (const event of frame.events) {
      if (event.type === 'usage') usage = event.usage;
      for (const bytes of soundOf(event))
        text += written({ type: 'speech.audio.delta', audio: Buffer.from(bytes).toString('base64') });
    }
    return encoder.encode(text);
  }

  function done(): Uint8Array {
    const { input = 0, output = 0 } = usage ?? {};
    const tokens = { input_tokens: input, output_tokens: output, total_tokens: input + output };
    return encoder.encode(written({ type: 'speech.audio.done', usage: tokens }));
  }

  return {
    contentType: 'text/event-stream; charset=utf-8',
    warnings: NO_WARNINGS,
    write,
    pass(frame) {
      isOwn = !frame.events.flatMap(soundOf).includes(frame.bytes);
      return isOwn ? frame.bytes : write(frame);
    },
    end: () => (isOwn ? NO_BYTES : done()),
    fail: (error) => encoder.encode(written({ type: 'error', error: openaiErrorObject(error) })),
    keepAlive: () => encoder.encode(': keep-alive\n\n'),
  };
}

const written = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`;
