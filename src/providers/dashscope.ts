/** Alibaba Cloud Model Studio (Qwen) in its compatible mode. */
import { openaiCompatibleVendor } from './openai-compatible.ts';

export const dashscope = openaiCompatibleVendor({
  name: 'dashscope',
  baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  credentialVariable: 'DASHSCOPE_API_KEY',
  quirks: { renames: { max_completion_tokens: 'max_tokens' } },
});
