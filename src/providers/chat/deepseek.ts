/** DeepSeek. */
import { openaiCompatibleVendor } from './openai-compatible.ts';

export const deepseek = openaiCompatibleVendor({
  name: 'deepseek',
  baseUrl: 'https://api.deepseek.com',
  credentialVariable: 'DEEPSEEK_API_KEY',
  responses: true,
  quirks: {
    // Its name of the ceiling is the old one; the new one it passes over in silence.
    renames: { max_completion_tokens: 'max_tokens' },
    supportsStructuredOutput: 'json',
    models: [{ match: '^deepseek-reasoner', quirks: { rejects: ['logprobs', 'top_logprobs'] } }],
  },
});
