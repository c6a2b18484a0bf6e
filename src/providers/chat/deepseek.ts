/** DeepSeek. */
import { openaiCompatibleProvider } from './openai-compatible.ts';

export const deepseek = openaiCompatibleProvider({
  name: 'deepseek',
  baseUrl: 'https://api.deepseek.com',
  credentialVariable: 'DEEPSEEK_API_KEY',
  responses: true,
  quirks: {
    // It only reads the older name and ignores the newer one.
    renames: { max_completion_tokens: 'max_tokens' },
    supportsStructuredOutput: 'json',
    models: [{ match: '^deepseek-reasoner', quirks: { rejects: ['logprobs', 'top_logprobs'] } }],
  },
});
