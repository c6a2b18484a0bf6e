/** OpenAI's speech format, `POST /v1/audio/speech`: a text in, audio out, either as raw bytes or in events. */

import type { SpeechCall } from '../../../canonical/call.ts';
import type { Dialect, WireRequest, Written } from '../../dialect.ts';
import { type Adjustment, passOwn } from '../../shared/adjust.ts';
import { memberCheck } from '../../shared/checked-members.ts';
import { billable, type MoneySpelling } from '../../shared/money/money-members.ts';
import { OPENAI_ERRORS } from '../../shared/openai-errors.ts';
import type { OutgoingBody } from '../../shared/outgoing-body.ts';
import type { ModelQuirks, Quirks } from '../../shared/quirks.ts';
import { parseObject } from '../../shared/request-body.ts';
import { speechBody } from '../speech-members.ts';
import { voiceFor } from '../voices.ts';
import { createReader } from './read-reply.ts';
import { SpeechRequest } from './request-schema.ts';
import { createWriter } from './write-reply.ts';

const NAME = 'openai-speech';
const MONEY: MoneySpelling = {
  tier: ['service_tier'],
  model: ['model'],
  read: ['input', 'instructions', 'speed'],
  content: new Set(['voice']),
};
const check = memberCheck(SpeechRequest);

export const openaiSpeech: Dialect<SpeechCall> = {
  name: NAME,
  kind: 'speech',
  readCall,
  writer: createWriter,
  ...OPENAI_ERRORS,
  writeCall,
  passCall,
  reader: createReader,
};

function readCall({ body: received }: WireRequest): SpeechCall {
  const parsed = parseObject(received);
  const { body, bytes, dropped } = billable(parsed, received, MONEY);
  const {
    model,
    input,
    voice,
    speed,
    instructions,
    response_format: format,
    stream_format: delivery,
  } = check({
    ...body,
    // Elsewhere `speed` is a service tier, so `billable` may have changed it. Here it is the playback speed.
    ...(parsed.speed !== undefined && { speed: parsed.speed }),
  });
  const name = typeof voice === 'string' ? voice : voice?.id;
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
    ...(name != null && { voice: name }),
    ...(speed != null && { speed }),
    ...(instructions != null && { instructions }),
    ...(format != null && { format }),
  };
}

/**
 * Writes a call for speech. A call that came as a chat request may name a voice of the chat format's provider, or none.
 */
function writeCall(call: SpeechCall, model: string, quirks: Quirks): Written {
  if (!call.origin.foreign) return passCall(call, model, quirks);
  const losses = new Set<string>();
  const voice = voiceFor(call.voice ?? '', 'openai', losses);
  const body = speechBody(call.model, { ...call, voice });
  const written = passCall({ ...call, voice, origin: { ...call.origin, body } }, model, quirks);
  return { ...written, warnings: [...losses, ...written.warnings] };
}

/** The client's own body. It is used for every provider, because no other format is read into a speech call. */
function passCall(call: SpeechCall, model: string, quirks: Quirks): Written {
  return passOwn(call, model, quirks, ADJUSTMENTS);
}

const ADJUSTMENTS: readonly Adjustment<SpeechCall>[] = [adjustVoice, adjustDelivery];

/** A provider whose member has another name takes the voice as a text. */
function adjustVoice(body: OutgoingBody, { voice }: SpeechCall, { renames }: ModelQuirks): void {
  if (renames?.voice !== undefined && voice !== undefined) body.set('voice', voice);
}

/** A changed delivery needs no warning: the gateway itself turns audio into events, and events into audio. */
function adjustDelivery(body: OutgoingBody, _call: SpeechCall, { supportsSpeechEvents }: ModelQuirks): void {
  if (supportsSpeechEvents) body.set('stream_format', supportsSpeechEvents === 'priced' ? 'sse' : undefined);
  if (supportsSpeechEvents === 'stream') body.set('stream', true);
}
