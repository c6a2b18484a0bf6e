/** The types that the picker offers, the usual ones first. */
export interface ProviderType {
  type: string;
  name: string;
  logo: string;
  /** Serves without a key. */
  isKeyless?: boolean;
  /** The address is not known in advance. */
  needsUrl?: boolean;
  /** It has no address of its own. */
  isUrlYours?: boolean;
  /** What it needs beside the key; those with a `?` may stay empty. */
  settings?: readonly ('region' | 'project?' | 'location?')[];
  /** How its key looks, if it is more than one text. */
  keyHint?: 'sArn' | 'sPair' | 'sAccount';
}

export const TYPES: readonly ProviderType[] = [
  { type: 'anthropic', name: 'Anthropic', logo: 'A' },
  { type: 'openai', name: 'OpenAI', logo: 'O' },
  { type: 'google', name: 'Google Gemini', logo: 'G' },
  { type: 'deepseek', name: 'DeepSeek', logo: 'D' },
  { type: 'mistral', name: 'Mistral', logo: 'M' },
  { type: 'xai', name: 'xAI', logo: 'x' },
  { type: 'dashscope', name: 'Alibaba Qwen', logo: 'Q' },
  { type: 'moonshot', name: 'Moonshot Kimi', logo: 'K' },
  { type: 'zai', name: 'Z.ai GLM', logo: 'Z' },
  { type: 'openrouter', name: 'OpenRouter', logo: 'Or' },
  { type: 'groq', name: 'Groq', logo: 'Gr' },
  { type: 'together', name: 'Together', logo: 'T' },
  { type: 'ollama', name: 'Ollama', logo: 'Ol', isKeyless: true, needsUrl: true },
  { type: 'vllm', name: 'vLLM', logo: 'vL', isKeyless: true, needsUrl: true },
  {
    type: 'openai-compatible',
    name: 'OpenAI-compatible',
    logo: '＋',
    isKeyless: true,
    needsUrl: true,
    isUrlYours: true,
  },
  { type: 'azure', name: 'Azure OpenAI', logo: 'Az', needsUrl: true, isUrlYours: true },
  { type: 'bedrock', name: 'Amazon Bedrock', logo: 'B', settings: ['region'], keyHint: 'sArn' },
  { type: 'bedrock-mantle', name: 'Bedrock Mantle', logo: 'Bm', settings: ['region'], keyHint: 'sArn' },
  { type: 'vertex', name: 'Google Vertex AI', logo: 'V', settings: ['project?', 'location?'], keyHint: 'sAccount' },
  { type: 'cerebras', name: 'Cerebras', logo: 'C' },
  { type: 'cohere', name: 'Cohere', logo: 'Co' },
  { type: 'elevenlabs', name: 'ElevenLabs', logo: 'El' },
  { type: 'fireworks', name: 'Fireworks', logo: 'F' },
  { type: 'huggingface', name: 'Hugging Face', logo: 'Hf' },
  { type: 'jimeng', name: 'Jimeng', logo: 'Ji', keyHint: 'sPair' },
  { type: 'jina', name: 'Jina', logo: 'J' },
  { type: 'kling', name: 'Kling', logo: 'Kl' },
  { type: 'llamacpp', name: 'llama.cpp', logo: 'Lc', isKeyless: true, needsUrl: true },
  { type: 'lm-studio', name: 'LM Studio', logo: 'Lm', isKeyless: true, needsUrl: true },
  { type: 'minimax', name: 'MiniMax', logo: 'Mm' },
  { type: 'perplexity', name: 'Perplexity', logo: 'P' },
  { type: 'runway', name: 'Runway', logo: 'R' },
  { type: 'siliconflow', name: 'SiliconFlow', logo: 'Si' },
  { type: 'snowflake', name: 'Snowflake Cortex', logo: 'Sn', needsUrl: true, isUrlYours: true },
  { type: 'stability', name: 'Stability AI', logo: 'St' },
  { type: 'vidu', name: 'Vidu', logo: 'Vi' },
  { type: 'volcengine', name: 'Volcengine Ark', logo: 'Ar' },
  { type: 'voyage', name: 'Voyage AI', logo: 'Vo' },
  { type: 'zhipu', name: 'Zhipu GLM', logo: 'Zh' },
];

/** So many are offered at first. */
export const USUAL = 15;

/** How a type of the gateway is shown, also one that the picker does not offer. */
export function typeNamed(type: string): ProviderType {
  return TYPES.find((row) => row.type === type) ?? { type, name: type, logo: type.slice(0, 1).toUpperCase() };
}
