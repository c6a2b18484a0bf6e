/** Fireworks AI. */
import { openaiCompatibleProvider } from './openai-compatible.ts';

export const fireworks = openaiCompatibleProvider({
  name: 'fireworks',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  credentialVariable: 'FIREWORKS_API_KEY',
  embeddings: { supportsEncodingFormat: false },
  completions: true,
});
