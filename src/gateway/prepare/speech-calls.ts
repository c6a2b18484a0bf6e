/** A conversation with a speech model as a request for speech, and the audio as a turn of the conversation. Pure. */
import type { ChatCall, Message, SpeechCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { newId } from '../../canonical/id.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import { isSpeechFormat, mimeTypeOf } from '../../dialects/audio/speech-formats.ts';
import { speechBody } from '../../dialects/audio/speech-members.ts';
import type { Frame, Reader } from '../../dialects/dialect.ts';

/** Audio formats that conversations name differently than requests for speech. */
const FORMATS: { readonly [format: string]: string } = { pcm16: 'pcm' };

/** The user's last turn becomes the text, the system messages the instructions. Throws `invalid_request` where there is no text. */
export function asSpeech(call: ChatCall): { call: SpeechCall; losses: readonly string[] } {
  const { messages, audio, sampling } = call;
  const losses: string[] = [];
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const input = messages[last] ? textOf(messages[last]) : '';
  if (input === '') {
    const sentence = 'The model only speaks: the last message of the user must have a text to be spoken.';
    throw new GatewayError('invalid_request', sentence, { param: 'messages' });
  }
  const instructions = messages
    .filter(({ role }) => role === 'system')
    .map(textOf)
    .join('\n\n');
  if (messages.slice(0, last).some(({ role }) => role !== 'system'))
    losses.push('Earlier turns were left out: the model speaks the last one.');
  if (messages.some(({ parts }) => parts.some(({ type }) => type === 'media')))
    losses.push('Images, audios and files were left out: the model only speaks.');
  if (call.tools.length > 0) losses.push('Tools were dropped: the model only speaks.');
  if ((sampling.n ?? 1) > 1) losses.push('`n` was dropped: the model speaks the text once.');
  const requested = FORMATS[audio?.format ?? 'pcm16'] ?? audio?.format;
  const format = isSpeechFormat(requested) ? requested : 'wav';
  const members = {
    input,
    ...(audio?.voice && { voice: audio.voice }),
    ...(instructions !== '' && { instructions }),
    format,
  };
  return {
    call: {
      kind: 'speech',
      model: call.model,
      stream: call.stream,
      origin: { ...call.origin, body: speechBody(call.model, members), foreign: true },
      extras: {},
      headers: {},
      ...(call.receivedSeconds !== undefined && { receivedSeconds: call.receivedSeconds }),
      ...members,
      asEvents: false,
    },
    losses,
  };
}

function textOf({ parts }: Message): string {
  return parts
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n')
    .trim();
}

/** Reads the audio as the one part of a chat reply. */
export function spokenReply(reader: Reader, { model, format }: SpeechCall): Reader {
  let isOpen = false;
  /** Up to two bytes that do not fill a base64 group yet. */
  let left: Uint8Array = new Uint8Array();
  const place = { choice: 0, part: 0 };

  function* opening(): Generator<ReplyEvent> {
    if (isOpen) return;
    isOpen = true;
    const type = reader.contentType ?? mimeTypeOf(format);
    const mimeType = type === mimeTypeOf('pcm') ? 'audio/L16;codec=pcm;rate=24000' : type;
    yield { type: 'reply-start', id: '', model };
    yield { type: 'part-start', ...place, opens: { type: 'audio', id: newId('audio_'), mimeType } };
  }

  function* delta(bytes: Uint8Array): Generator<ReplyEvent> {
    if (bytes.length > 0) yield { type: 'part-delta', ...place, delta: Buffer.from(bytes).toString('base64') };
  }

  function* chatEvents(event: ReplyEvent): Generator<ReplyEvent> {
    if (event.type === 'result' && event.result.type === 'audio') {
      yield* opening();
      const bytes = Buffer.concat([left, event.result.bytes]);
      const whole = bytes.length - (bytes.length % 3);
      left = bytes.subarray(whole);
      return yield* delta(bytes.subarray(0, whole));
    }
    if (event.type === 'reply-end') {
      yield* opening();
      yield* delta(left);
      yield { type: 'part-end', ...place };
      yield { type: 'choice-end', choice: 0, finish: { reason: 'stop' } };
    }
    yield event;
  }

  const frameOf = ({ bytes, events }: Frame): Frame => ({
    bytes,
    events: events.flatMap((event) => [...chatEvents(event)]),
  });
  return {
    read: (chunk) => reader.read(chunk).map(frameOf),
    end: () => reader.end().map(frameOf),
  };
}
