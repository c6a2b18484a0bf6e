/** OpenRouter. */

import { CLAUDE_PREFILL } from '../claude-prefill.ts';
import type { Provider } from '../provider.ts';
import { openrouterVideo } from '../video/openrouter-video.ts';
import { openaiCompatibleProvider } from './openai-compatible.ts';

const chat = openaiCompatibleProvider({
  name: 'openrouter',
  baseUrl: 'https://openrouter.ai/api/v1',
  credentialVariable: 'OPENROUTER_API_KEY',
  embeddings: {},
  rerank: {},
  completions: true,
  responses: true,
  // Its hosts are chosen by the same words as providers here: they are sent only where the operator allows it.
  members: ({ settings }, _dialect, { hostWishes }) =>
    hostWishes && settings.callerRouting === 'pass' ? { provider: hostWishes } : {},
  video: openrouterVideo,
  // https://openrouter.ai/docs/api-reference/overview#assistant-prefill: as the model can.
  quirks: { supportsDeveloperRole: true, reasoningField: 'reasoning_details', models: [CLAUDE_PREFILL] },
});

/** Its list of models needs no key. https://openrouter.ai/docs/api-reference/limits */
export const openrouter: Provider = { ...chat, credentialPath: '/key' };
