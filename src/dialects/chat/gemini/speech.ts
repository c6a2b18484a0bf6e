/** Speech with Google's generateContent, `POST …/models/{model}:generateContent`: a text in, audio parts out. */

import type { ChatCall, Part, SpeechCall } from '../../../canonical/call.ts';
import { entryOf } from '../../../canonical/entry-of.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { FinishReason, ReplyEvent } from '../../../canonical/reply.ts';
import type { Usage } from '../../../canonical/usage.ts';
import { speechCounter } from '../../audio/speech-count.ts';
import { mimeTypeOf } from '../../audio/speech-formats.ts';
import { unknownSpeechMembers } from '../../audio/speech-members.ts';
import type { Frame, ProviderDialect, Reader, Written } from '../../dialect.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { joinBytes } from '../../wire/json.ts';
import { isSamples, waveHeader } from '../../wire/wave.ts';
import { GEMINI } from '../names.ts';
import { readError } from './errors.ts';
import { traitsOf } from './model-traits.ts';
import { createReader } from './read-reply.ts';
import { writeCall } from './write-request.ts';

export const geminiSpeech: ProviderDialect<SpeechCall> = {
  name: 'gemini-speech',
  kind: 'speech',
  inConversation: true,
  writeCall: writeSpeechCall,
  reader: (call, contentType) => audioReader(call, contentType),
  readError,
};

/** Formats made of raw samples. Every model has them, and they can be streamed. */
const PLAIN: readonly string[] = ['wav', 'pcm'];
/** Formats that later models encode themselves, not streamed. */
const PACKED: { readonly [format: string]: string } = {
  mp3: 'AUDIO_MP3',
  opus: 'AUDIO_OGG_OPUS',
  ogg: 'AUDIO_OGG_OPUS',
  mulaw: 'AUDIO_MULAW',
};

/** The format to request. Default: OpenAI's default, if the model has it. */
function formatFor({ format }: SpeechCall, model: string): string {
  const { packsSpeech } = traitsOf(model);
  if (format === undefined) return packsSpeech ? 'mp3' : 'wav';
  if (PLAIN.includes(format) || (packsSpeech && format in PACKED)) return format;
  const known = [...PLAIN, ...(packsSpeech ? Object.keys(PACKED) : [])].join(', ');
  const sentence = `\`response_format\` must be one of ${known}: the model does not generate ${format}.`;
  throw new GatewayError('invalid_request', sentence, { param: 'response_format', retryable: true });
}

/** Whether to request streaming. Throws `invalid_request` if the model does not have the format. */
export function speaksInPieces(call: SpeechCall, model: string): boolean {
  return PLAIN.includes(formatFor(call, model));
}

function writeSpeechCall(call: SpeechCall, model: string, quirks: Quirks): Written {
  const format = formatFor(call, model);
  const mimeType = entryOf(PACKED, format);
  const config = mimeType === undefined ? undefined : { responseFormat: { audio: { mimeType } } };
  const extras = config && { [GEMINI]: { generationConfig: config } };
  const written = writeCall(
    { ...asConversation(call, [textOf(call, model)]), ...(extras && { extras }) },
    model,
    quirks,
  );
  const warnings = [...written.warnings, ...unknownSpeechMembers(call)];
  if (call.speed !== undefined)
    warnings.push('`speed` was dropped: use `instructions` to set the speed of this model.');
  if (call.format === undefined && format === 'wav')
    warnings.push('The audio is a WAV file: the model only generates raw samples.');
  return { ...written, warnings };
}

/** Later models take instructions separately. For others the instructions become part of the text. */
function textOf({ input, instructions }: SpeechCall, model: string): Part {
  if (instructions === undefined || instructions === '') return { type: 'text', text: input };
  if (!traitsOf(model).packsSpeech)
    return { type: 'text', text: `Read the text below aloud, in this manner: ${instructions}\n\n${input}` };
  return { type: 'native', dialect: GEMINI, item: { text: input, speechMetadata: { style: instructions } } };
}

function asConversation(call: SpeechCall, parts: Part[]): ChatCall {
  const { model, stream, origin, voice = '' } = call;
  return {
    kind: 'chat',
    model,
    stream,
    origin,
    extras: {},
    headers: {},
    messages: [{ role: 'user', parts }],
    tools: [],
    sampling: {},
    modalities: ['audio'],
    audio: { voice, format: 'pcm' },
    wantsUsage: true,
  };
}

/** What is known of a reply so far. */
interface Heard {
  mimeType: string | undefined;
  usage: Usage | undefined;
  finish: FinishReason | undefined;
}

/**
 * Reads the audio from the replies. Holds the last byte back until they have ended, so that a client never takes an
 * aborted reply for a complete one.
 */
function audioReader(call: SpeechCall, contentType: string): Reader {
  const isStream = contentType.includes('event-stream');
  const inner = createReader({ ...asConversation(call, []), stream: isStream }, contentType);
  const heard: Heard = { mimeType: undefined, usage: undefined, finish: undefined };
  let count: ((audio: Uint8Array) => Usage) | undefined;
  let counted: Usage | undefined;
  let held: Uint8Array = new Uint8Array();
  let format = call.format;

  function open(mimeType: string | undefined): Uint8Array {
    heard.mimeType = mimeType;
    const isPlain = isSamples(mimeType);
    format ??= isPlain || mimeType === mimeTypeOf('wav') ? 'wav' : 'mp3';
    count = speechCounter({ ...call, format });
    return isPlain && format === 'wav' ? waveHeader(mimeType) : new Uint8Array();
  }

  /** A non-streaming reply may be a WAV file where raw samples were requested. */
  function samplesOf(bytes: Buffer): Uint8Array {
    if (format !== 'pcm' || heard.mimeType !== mimeTypeOf('wav')) return bytes;
    return bytes.subarray(bytes.indexOf('data') + 'data'.length + 4);
  }

  function audioIn(events: readonly ReplyEvent[]): Uint8Array {
    const pieces: Uint8Array[] = [];
    for (const event of events) {
      if (event.type === 'part-start' && event.opens.type === 'audio' && !count)
        pieces.push(open(event.opens.mimeType));
      else if (event.type === 'part-delta' && count) pieces.push(samplesOf(Buffer.from(event.delta, 'base64')));
      else if (event.type === 'usage') heard.usage = event.usage;
      else if (event.type === 'choice-end') heard.finish = event.finish.reason;
    }
    return joinBytes(pieces);
  }

  function frameOf({ events }: Frame): Frame[] {
    const failure = events.find((event) => event.type === 'error');
    const isOver = events.some((event) => event.type === 'reply-end');
    const audio = joinBytes([held, audioIn(events)]);
    const ready = isOver ? audio : audio.subarray(0, -1);
    held = isOver ? held : audio.slice(-1);
    const reported: ReplyEvent[] =
      ready.length === 0 ? [] : [{ type: 'result', result: { type: 'audio', bytes: ready } }];
    if (count) counted = count(ready);
    if (ready.length > 0 && counted) reported.push({ type: 'usage', usage: counted });
    if (failure) reported.push(failure);
    else if (isOver) reported.push(...ending(counted, heard));
    return reported.length === 0 ? [] : [{ bytes: ready, events: reported }];
  }

  return {
    get contentType() {
      return count && mimeTypeOf(format);
    },
    read: (chunk) => inner.read(chunk).flatMap(frameOf),
    end: () => inner.end().flatMap(frameOf),
  };
}

/** All output of a speech model is audio, even if the provider does not say so. */
function ending(counted: Usage | undefined, { usage, finish }: Heard): ReplyEvent[] {
  if (!counted) return [{ type: 'error', error: silent(finish) }];
  if (!usage || usage.output === 0) return [{ type: 'reply-end' }];
  const { characters = 0, seconds = 0 } = counted;
  const audioOutput = usage.audioOutput ?? usage.output - (usage.reasoning ?? 0);
  return [{ type: 'usage', usage: { ...usage, audioOutput, characters, seconds } }, { type: 'reply-end' }];
}

function silent(finish: FinishReason | undefined): GatewayError {
  if (finish === 'content-filter' || finish === 'refusal')
    return new GatewayError('upstream_refused', 'The provider refused to generate speech for this text.', {
      param: 'input',
    });
  return new GatewayError('upstream_failed', 'The model answered without audio.');
}
