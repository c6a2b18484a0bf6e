/** Reads `generationConfig`. Members that `Call` has no field for are kept as extras. */
import type { ChatCall, Effort, Modality, OutputFormat, Reasoning, Sampling } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { fromOpenapi } from './schema.ts';

type Meant = Pick<ChatCall, 'sampling'> &
  Partial<Pick<ChatCall, 'maxOutputTokens' | 'reasoning' | 'output' | 'modalities' | 'audio' | 'image'>>;

export function readConfig(config: JsonObject): { meant: Meant; rest: JsonObject } {
  const {
    temperature,
    topP,
    topK,
    presencePenalty,
    frequencyPenalty,
    seed,
    candidateCount,
    maxOutputTokens,
    ...others
  } = config;
  const { responseLogprobs, logprobs, stopSequences, thinkingConfig, responseModalities, ...forms } = others;
  const { imageConfig, speechConfig, responseMimeType, responseSchema, responseJsonSchema, ...rest } = forms;
  const meant: Meant = {
    sampling: {
      ...numbers({ temperature, topP, topK, presencePenalty, frequencyPenalty, seed, n: candidateCount }),
      ...(Array.isArray(stopSequences) && stopSequences.length > 0 && { stop: stopSequences.map(String) }),
      ...(typeof responseLogprobs === 'boolean' && { logprobs: responseLogprobs }),
      ...numbers({ topLogprobs: logprobs }),
    },
  };
  if (typeof maxOutputTokens === 'number') meant.maxOutputTokens = maxOutputTokens;
  const reasoning = isObject(thinkingConfig) ? readThinking(thinkingConfig) : undefined;
  if (reasoning) meant.reasoning = reasoning;
  const modalities = readModalities(responseModalities);
  if (modalities) meant.modalities = modalities;
  else keep(rest, { responseModalities });
  if (isObject(speechConfig)) readSpeech(speechConfig, meant, rest);
  if (isObject(imageConfig)) readImage(imageConfig, meant, rest);
  const output = readOutput(responseMimeType, responseSchema, responseJsonSchema);
  if (output) meant.output = output;
  else if (responseMimeType !== 'text/plain') keep(rest, { responseMimeType, responseSchema, responseJsonSchema });
  return { meant, rest };
}

function numbers(members: { [name in keyof Sampling]?: Json | undefined }): Sampling {
  const numeric = Object.entries(members).filter(([, value]) => typeof value === 'number');
  return Object.fromEntries(numeric) as Sampling;
}

function keep(rest: JsonObject, members: { [name: string]: Json | undefined }): void {
  for (const [name, value] of Object.entries(members)) if (value !== undefined) rest[name] = value;
}

const EFFORTS: { readonly [level: string]: Effort } = {
  MINIMAL: 'minimal',
  LOW: 'low',
  MEDIUM: 'medium',
  HIGH: 'high',
};

/** Thoughts are hidden unless requested. */
function readThinking({ thinkingBudget, thinkingLevel, includeThoughts }: JsonObject): Reasoning | undefined {
  const effort = typeof thinkingLevel === 'string' ? EFFORTS[thinkingLevel.toUpperCase()] : undefined;
  const budget = typeof thinkingBudget === 'number' ? thinkingBudget : undefined;
  return {
    ...(effort && { effort }),
    ...(budget === 0 && { effort: 'none' }),
    ...(budget === -1 && { adaptive: true }),
    ...(budget !== undefined && budget > 0 && { budgetTokens: budget }),
    summary: includeThoughts === true ? 'auto' : 'none',
  };
}

function readModalities(modalities: Json | undefined): Modality[] | undefined {
  if (!Array.isArray(modalities) || modalities.length === 0) return undefined;
  const words = modalities.map((modality) => String(modality).toLowerCase());
  const known = words.filter((word): word is Modality => word === 'text' || word === 'image' || word === 'audio');
  return known.length === words.length ? known : undefined;
}

/** A single voice is read. Several speakers and languages are kept as extras. */
function readSpeech(speech: JsonObject, meant: Meant, rest: JsonObject): void {
  const { voiceConfig, ...others } = speech;
  const { prebuiltVoiceConfig, ...voices } = isObject(voiceConfig) ? voiceConfig : {};
  const voice = isObject(prebuiltVoiceConfig) ? prebuiltVoiceConfig.voiceName : undefined;
  if (typeof voice === 'string') meant.audio = { voice, format: 'pcm16' };
  const beside = { ...others, ...(Object.keys(voices).length > 0 && { voiceConfig: voices }) };
  if (Object.keys(beside).length > 0) rest.speechConfig = beside;
}

function readImage({ aspectRatio, imageSize, ...others }: JsonObject, meant: Meant, rest: JsonObject): void {
  const image = {
    ...(typeof aspectRatio === 'string' && { aspectRatio }),
    ...(typeof imageSize === 'string' && { size: imageSize }),
  };
  if (Object.keys(image).length > 0) meant.image = image;
  if (Object.keys(others).length > 0) rest.imageConfig = others;
}

function readOutput(
  mime: Json | undefined,
  openapi: Json | undefined,
  json: Json | undefined,
): OutputFormat | undefined {
  if (mime !== undefined && mime !== 'application/json') return undefined;
  const schema = isObject(json) ? json : isObject(openapi) ? fromOpenapi(openapi) : undefined;
  if (schema) return { type: 'json-schema', name: 'response', schema };
  return mime === undefined ? undefined : { type: 'json' };
}
