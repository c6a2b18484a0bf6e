/** URLs of Google's Gemini API, and whether to request a stream. */
import type { Call } from '../../canonical/call.ts';
import { speaksInPieces } from '../../dialects/chat/gemini/speech.ts';
import { joinUrl } from '../chat/openai-compatible.ts';

/** The official library's base URL has no version; others have one. */
const VERSIONED = /\/v\d+((alpha|beta)\d*)?\/?$/;
const COLLECTION = /^(models|tunedModels|operations)\//;

/** `name`: a model or another resource. `action`: an action on it. */
export function googleUrl(baseUrl: string, name: string, action?: string): string {
  const path = COLLECTION.test(name) ? `/${name}` : `/models/${name}`;
  return joinUrl(versioned(baseUrl), action ? `${path}:${action}` : path);
}

/** Without a size a page has 50 models. */
export function googleModelsUrl(baseUrl: string): string {
  return joinUrl(versioned(baseUrl), '/models?pageSize=1000');
}

function versioned(baseUrl: string): string {
  return VERSIONED.test(baseUrl) ? baseUrl : joinUrl(baseUrl, '/v1beta');
}

/** Some calls are not streamed by the provider although the client streams. */
export function asksForStream(call: Call, model: string): boolean {
  return call.kind === 'speech' ? speaksInPieces(call, model) : call.stream;
}
