/** Hugging Face's router to other providers. */
import { openaiCompatibleProvider } from './openai-compatible.ts';

export const huggingface = openaiCompatibleProvider({
  name: 'huggingface',
  baseUrl: 'https://router.huggingface.co/v1',
  credentialVariable: 'HF_TOKEN',
  quirks: { renames: { max_completion_tokens: 'max_tokens' } },
});
