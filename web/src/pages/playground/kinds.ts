/** Which models belong to an endpoint by their names: not everybody may read the catalogue. */
import type { Endpoint } from './endpoints.ts';

const BY_NAME: { readonly [E in Exclude<Endpoint, 'chat'>]: RegExp } = {
  images: /image|dall|flux|seedream|imagen/i,
  speech: /speech|tts|voice/i,
  transcription: /transcri|whisper|stt/i,
  embeddings: /embed/i,
  rerank: /rerank/i,
  video: /video|sora|veo|kling|seedance|jimeng/i,
};

export const isChatName = (name: string): boolean =>
  !/moderation/.test(name) && !Object.values(BY_NAME).some((pattern) => pattern.test(name));

export const isNamedFor = (endpoint: Endpoint, name: string): boolean =>
  endpoint === 'chat' ? isChatName(name) : BY_NAME[endpoint].test(name);
