/** ElevenLabs text to speech, `POST /v1/text-to-speech/{voice}/stream`. Only providers speak this format. */

import type { SpeechCall } from '../../canonical/call.ts';
import { entryOf } from '../../canonical/entry-of.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { ProviderDialect, Written } from '../dialect.ts';
import { readOpenaiError } from '../shared/openai-errors.ts';
import { waveHeader } from '../wire/wave.ts';
import { bareAudioReader } from './bare-audio.ts';
import { mimeTypeOf } from './speech-formats.ts';
import { unknownSpeechMembers } from './speech-members.ts';

export const elevenlabsSpeech: ProviderDialect<SpeechCall> = {
  name: 'elevenlabs-speech',
  kind: 'speech',
  writeCall,
  reader(call, contentType) {
    const format = call.format ?? USUAL;
    const first = format === 'wav' ? waveHeader(mimeTypeOf('pcm')) : undefined;
    return { ...bareAudioReader({ ...call, format }, contentType, first), contentType: mimeTypeOf(format) };
  },
  readError: readOpenaiError,
};

const USUAL = 'mp3';
/** For `wav` the gateway requests raw samples and adds the header. */
const FORMATS: { readonly [format: string]: string } = {
  mp3: 'mp3_44100_128',
  wav: 'pcm_24000',
  pcm: 'pcm_24000',
  opus: 'opus_48000_128',
  mulaw: 'ulaw_8000',
};
const SLOWEST = 0.7;
const FASTEST = 1.2;

/** Voice and format are part of the URL. Throws `invalid_request` if the provider does not have the format. */
export function elevenlabsPath({ voice, format = USUAL }: SpeechCall): string {
  const output = entryOf(FORMATS, format);
  if (output === undefined) {
    const sentence = `\`response_format\` must be one of ${Object.keys(FORMATS).join(', ')}: the model does not generate ${format}.`;
    throw new GatewayError('invalid_request', sentence, { param: 'response_format', retryable: true });
  }
  if (voice === undefined)
    throw new GatewayError('invalid_request', '`voice` must be the id of a voice: the model has no default voice.', {
      param: 'voice',
      retryable: true,
    });
  if (!NAMES_ONE.test(voice))
    throw new GatewayError('invalid_request', '`voice` must be the id of a voice.', {
      param: 'voice',
      retryable: true,
    });
  return `/text-to-speech/${encodeURIComponent(voice)}/stream?output_format=${output}`;
}

/** Anything but dots, which in a URL name other folders, and half characters, which no URL can contain. */
const NAMES_ONE = /^(?!\.{1,2}$)[^\p{Cs}]+$/u;

function writeCall(call: SpeechCall, model: string): Written {
  const warnings = unknownSpeechMembers(call);
  if (call.instructions !== undefined) warnings.push('`instructions` was dropped: write them in brackets in the text.');
  const speed = call.speed === undefined ? undefined : Math.max(SLOWEST, Math.min(FASTEST, call.speed));
  if (speed !== call.speed) warnings.push(`\`speed\` was taken as ${speed}: the model’s nearest speed.`);
  const body = { text: call.input, model_id: model, ...(speed !== undefined && { voice_settings: { speed } }) };
  return { body: new TextEncoder().encode(JSON.stringify(body)), warnings };
}
