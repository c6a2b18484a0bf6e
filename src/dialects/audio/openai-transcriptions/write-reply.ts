/**
 * Writes a transcript: the provider's own bytes, or events if the client asked for a stream and the provider has none.
 */
import type { TranscriptionCall } from '../../../canonical/call.ts';
import type { Frame, Writer } from '../../dialect.ts';
import { openaiErrorObject } from '../../shared/error-bodies.ts';
import { isText } from './read-reply.ts';

const NO_BYTES = new Uint8Array();
const NO_WARNINGS: readonly string[] = [];
const encoder = new TextEncoder();

export function createWriter(call: TranscriptionCall): Writer {
  const contentType = isText(call) ? 'text/plain; charset=utf-8' : 'application/json';
  return {
    contentType: call.stream ? 'text/event-stream; charset=utf-8' : contentType,
    warnings: NO_WARNINGS,
    write: (frame) => asStream(call, frame) ?? frame.bytes,
    pass: (frame) => asStream(call, frame) ?? frame.bytes,
    end: () => NO_BYTES,
    fail: (error) =>
      call.stream ? encoder.encode(written({ type: 'error', error: openaiErrorObject(error) })) : NO_BYTES,
    keepAlive: () => (call.stream ? encoder.encode(': keep-alive\n\n') : NO_BYTES),
  };
}

/** Writes a non-streaming reply as a stream. */
function asStream({ stream }: TranscriptionCall, { events }: Frame): Uint8Array | undefined {
  if (!stream) return undefined;
  for (const event of events) {
    if (event.type !== 'result' || event.result.type !== 'transcript' || !event.result.isWhole) continue;
    const { text } = event.result;
    const pieces = [
      { type: 'transcript.text.delta', delta: text },
      { type: 'transcript.text.done', text },
    ];
    return encoder.encode(pieces.map(written).join(''));
  }
  return undefined;
}

const written = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`;
