/** Cerebras. */
import { openaiCompatibleProvider } from './openai-compatible.ts';

export const cerebras = openaiCompatibleProvider({
  name: 'cerebras',
  baseUrl: 'https://api.cerebras.ai/v1',
  credentialVariable: 'CEREBRAS_API_KEY',
  completions: true,
  quirks: {
    fixed: { n: 1 },
    rejects: ['frequency_penalty', 'presence_penalty', 'logit_bias', 'service_tier', 'prompt_cache_key', 'verbosity'],
    reasoningField: 'reasoning',
  },
});
