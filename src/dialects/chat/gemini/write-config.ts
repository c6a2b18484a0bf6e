/** Writes the call's settings as `generationConfig`. */
import type { ChatCall, Modality, OutputFormat } from '../../../canonical/call.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import { voiceFor } from '../../audio/voices.ts';
import type { ModelQuirks } from '../../shared/quirks.ts';
import { GEMINI } from '../names.ts';
import { traitsOf } from './model-traits.ts';
import { toOpenapi } from './schema.ts';
import { writeThinking } from './thinking.ts';

const MAX_STOPS = 5;
/** The names of custom voices. */
const MADE_VOICE = /^voice(key)?_/;
/** Formats that can be made from the model's samples. */
const PLAIN_FORMATS: readonly string[] = ['pcm16', 'pcm', 'wav'];

export function writeConfig(call: ChatCall, model: string, quirks: ModelQuirks, losses: Set<string>): JsonObject {
  const { sampling, reasoning, output, audio, image, modalities } = call;
  const members: { [member: string]: Json | undefined } = {
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    candidateCount: sampling.n,
    maxOutputTokens: call.maxOutputTokens,
    stopSequences: writeStops(sampling.stop, losses),
    presencePenalty: sampling.presencePenalty,
    frequencyPenalty: sampling.frequencyPenalty,
    seed: sampling.seed,
    responseLogprobs: sampling.logprobs,
    logprobs: sampling.topLogprobs,
    responseModalities: modalities && writeModalities(modalities, losses),
    speechConfig: audio && writeSpeech(call, audio, losses),
    imageConfig: image && {
      ...(image.aspectRatio !== undefined && { aspectRatio: image.aspectRatio }),
      ...(image.size !== undefined && { imageSize: image.size }),
    },
    thinkingConfig: reasoning && writeThinking(reasoning, traitsOf(model), losses),
    ...(output && writeOutput(output, quirks, losses)),
  };
  const config: JsonObject = {};
  for (const [member, value] of Object.entries(members)) if (value !== undefined) config[member] = value;
  return config;
}

function writeSpeech(call: ChatCall, audio: NonNullable<ChatCall['audio']>, losses: Set<string>): JsonObject {
  if (!PLAIN_FORMATS.includes(audio.format))
    losses.add(`The model only generates raw samples: they are returned as WAV, not as \`${audio.format}\`.`);
  const isOwn = call.origin.dialect === GEMINI;
  const voiceName = isOwn ? audio.voice : voiceFor(audio.voice, 'google', losses);
  return { voiceConfig: MADE_VOICE.test(voiceName) ? { voice: voiceName } : { prebuiltVoiceConfig: { voiceName } } };
}

/** Text output is dropped when audio is requested: the model returns one of them. */
function writeModalities(modalities: readonly Modality[], losses: Set<string>): string[] {
  const isSpoken = modalities.includes('audio') && modalities.includes('text');
  if (isSpoken) losses.add('The `text` modality was dropped: the model returns either speech or text.');
  const requested = isSpoken ? modalities.filter((modality) => modality !== 'text') : modalities;
  return requested.map((modality) => modality.toUpperCase());
}

function writeStops(stop: string[] | undefined, losses: Set<string>): string[] | undefined {
  if (!stop || stop.length === 0) return undefined;
  if (stop.length > MAX_STOPS)
    losses.add(`Of the stop sequences the first ${MAX_STOPS} were kept: the model accepts no more.`);
  return stop.slice(0, MAX_STOPS);
}

function writeOutput(output: OutputFormat, quirks: ModelQuirks, losses: Set<string>): JsonObject {
  const responseMimeType = 'application/json';
  if (output.type === 'json') return { responseMimeType };
  if (output.description !== undefined) losses.add('The description of the output format was dropped.');
  if (!quirks.supportsJsonSchema) return { responseMimeType, responseSchema: toOpenapi(output.schema, losses) };
  return { responseMimeType, responseJsonSchema: output.schema };
}
