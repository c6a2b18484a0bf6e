/** Addresses in Google's Gemini API, and whether an answer is asked for as a stream there. */
import type { Call } from '../../canonical/call.ts';
import { speaksInPieces } from '../../dialects/chat/gemini/speech.ts';
import { joinUrl } from '../chat/openai-compatible.ts';

/** The official library's address ends before the version, others' with it. */
const VERSIONED = /\/v\d+((alpha|beta)\d*)?\/?$/;
const COLLECTION = /^(models|tunedModels|operations)\//;

/** Of a model or another named thing, or of what is done with it. */
export function googleUrl(baseUrl: string, name: string, action?: string): string {
  const path = COLLECTION.test(name) ? `/${name}` : `/models/${name}`;
  return joinUrl(VERSIONED.test(baseUrl) ? baseUrl : joinUrl(baseUrl, '/v1beta'), action ? `${path}:${action}` : path);
}

/** Some of what clients hear piece by piece comes whole. */
export function isStreamed(call: Call, model: string): boolean {
  return call.kind === 'speech' ? speaksInPieces(call, model) : call.stream;
}
