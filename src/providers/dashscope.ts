/** Alibaba Cloud Model Studio (Qwen) in its compatible mode. */
import { joinUrl, openaiCompatibleVendor } from './openai-compatible.ts';
import type { Provider } from './provider.ts';

/** What the compatible mode does not have stands beside it. */
const COMPATIBLE = /\/compatible-mode\/v1\/?$/;
const RERANK = '/services/rerank/text-rerank/text-rerank';

const compatible = openaiCompatibleVendor({
  name: 'dashscope',
  baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  credentialVariable: 'DASHSCOPE_API_KEY',
  embeddings: { plainVectors: true, rejects: ['user'], mostInputs: 10 },
  quirks: { renames: { max_completion_tokens: 'max_tokens' } },
});

export const dashscope: Provider = {
  ...compatible,
  speaks: { ...compatible.speaks, rerank: ['dashscope-rerank'] },
  url: (target, dialect, call) =>
    call.kind === 'rerank'
      ? joinUrl(target.baseUrl.replace(COMPATIBLE, '/api/v1'), RERANK)
      : compatible.url(target, dialect, call),
};
