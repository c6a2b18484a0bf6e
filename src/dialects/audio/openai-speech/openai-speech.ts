/** OpenAI's speech, `POST /v1/audio/speech`: a text in, bare audio out, or events that hold it. */
import type { SpeechCall } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import type { Dialect, Quirks, WireRequest, Written } from '../../dialect.ts';
import { openaiError } from '../../shared/error-bodies.ts';
import { billable, type MoneySpelling } from '../../shared/money-members.ts';
import { readOpenaiError } from '../../shared/openai-errors.ts';
import { OwnBody } from '../../shared/outgoing-body.ts';
import { adjustMembers, quirksOf } from '../../shared/quirks.ts';
import { parseBody, wrong } from '../../shared/request-body.ts';
import { isSpeechFormat, SPEECH_FORMATS } from '../speech-formats.ts';
import { speechBody } from '../speech-members.ts';
import { voiceFor } from '../voices.ts';
import { createReader } from './read-reply.ts';
import { createWriter } from './write-reply.ts';

const NAME = 'openai-speech';
const MONEY: MoneySpelling = {
  tier: ['service_tier'],
  model: ['model'],
  read: ['input', 'instructions', 'speed'],
  content: new Set(['voice']),
};
/** What the providers' own bounds of `speed` are. */
const SLOWEST = 0.25;
const FASTEST = 4;

export const openaiSpeech: Dialect<SpeechCall> = {
  name: NAME,
  kind: 'speech',
  readCall,
  writer: createWriter,
  writeError: openaiError,
  writeCall,
  passCall,
  reader: createReader,
  readError: readOpenaiError,
};

function readCall({ body: received }: WireRequest): SpeechCall {
  const parsed = parseBody(received);
  if (!isObject(parsed)) throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  const { body, bytes, dropped } = billable(parsed, received, MONEY);
  const { model, input, instructions, response_format: format, stream_format: delivery } = body;
  if (typeof model !== 'string' || model === '') throw wrong('model', 'must be the name of a model');
  if (typeof input !== 'string' || input === '') throw wrong('input', 'must be a text that is not empty');
  if (instructions != null && typeof instructions !== 'string') throw wrong('instructions', 'must be a text');
  if (format != null && !isSpeechFormat(format))
    throw wrong('response_format', `must be one of ${SPEECH_FORMATS.join(', ')}`);
  if (delivery != null && delivery !== 'audio' && delivery !== 'sse')
    throw wrong('stream_format', 'must be `audio` or `sse`');
  const asEvents = delivery === 'sse';
  return {
    kind: 'speech',
    model,
    stream: true,
    ...(!asEvents && { mute: true as const }),
    origin: { dialect: NAME, body: bytes, ...(dropped && { dropped }) },
    extras: {},
    headers: {},
    input,
    asEvents,
    ...readVoice(parsed),
    ...(instructions != null && { instructions }),
    ...(format != null && { format }),
  };
}

function readVoice({ voice, speed }: JsonObject): Pick<SpeechCall, 'voice' | 'speed'> {
  const name = isObject(voice) ? voice.id : voice;
  if (name != null && typeof name !== 'string')
    throw wrong('voice', 'must be the name of a voice, or an object with its `id`');
  if (speed != null && !(typeof speed === 'number' && speed >= SLOWEST && speed <= FASTEST))
    throw wrong('speed', `must be a number from ${SLOWEST} to ${FASTEST}`);
  return { ...(name != null && { voice: name }), ...(speed != null && { speed }) };
}

/** A request that was a conversation may ask for a voice of that format's provider, or for none. */
function writeCall(call: SpeechCall, model: string, quirks: Quirks): Written {
  if (!call.origin.foreign) return passCall(call, model, quirks);
  const losses = new Set<string>();
  const voice = voiceFor(call.voice ?? '', 'openai', losses);
  const body = speechBody(call.model, { ...call, voice });
  const written = passCall({ ...call, voice, origin: { ...call.origin, body } }, model, quirks);
  return { ...written, warnings: [...losses, ...written.warnings] };
}

/** The client's own body, whichever format's provider is asked: no other format is read into this kind of call. */
function passCall(call: SpeechCall, model: string, all: Quirks): Written {
  const quirks = quirksOf(all, model);
  const body = new OwnBody(call.origin.body);
  if (quirks.renames?.voice !== undefined && call.voice !== undefined) body.set('voice', call.voice);
  const delivery = quirks.speechEvents === 'priced' ? 'sse' : undefined;
  // How the audio is delivered is no loss: the gateway itself makes events of it, or audio of events.
  if (quirks.speechEvents) body.set('stream_format', delivery);
  if (quirks.speechEvents === 'stream') body.set('stream', true);
  if (model !== call.model) body.set('model', model);
  const warnings = adjustMembers(body, quirks);
  return { body: body.encode(), warnings };
}
