/** DeepSeek. */
import type { Provider } from '../provider.ts';
import { openaiCompatibleProvider } from './openai-compatible.ts';

const compatible = openaiCompatibleProvider({
  name: 'deepseek',
  baseUrl: 'https://api.deepseek.com',
  credentialVariable: 'DEEPSEEK_API_KEY',
  responses: true,
  quirks: {
    // It only reads the older name and ignores the newer one.
    renames: { max_completion_tokens: 'max_tokens' },
    supportsStructuredOutput: 'json',
    models: [
      { match: '^deepseek-reasoner', quirks: { rejects: ['logprobs', 'top_logprobs'] } },
      { match: '^deepseek-chat', quirks: { supportsPrefill: 'marked' } },
    ],
  },
});

/** https://api-docs.deepseek.com/guides/chat_prefix_completion: at a base URL of its own. */
export const deepseek: Provider = {
  ...compatible,
  url(target, dialect, call) {
    if (call.kind !== 'chat' || !call.isPrefilled) return compatible.url(target, dialect, call);
    const baseUrl = target.baseUrl.replace(/(\/v1|\/beta)?\/?$/, '/beta');
    return compatible.url({ ...target, baseUrl }, dialect, call);
  },
};
