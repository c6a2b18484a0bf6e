/** The types that the picker offers, the usual ones first. Every other type of the gateway is written as its name. */
export interface ProviderType {
  type: string;
  name: string;
  logo: string;
  /** Serves without a key. */
  isKeyless?: boolean;
  /** The address is not known in advance. */
  needsUrl?: boolean;
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
  { type: 'openai-compatible', name: 'OpenAI-compatible', logo: '＋', isKeyless: true, needsUrl: true },
];

/** How a type of the gateway is shown, also one that the picker does not offer. */
export function typeNamed(type: string): ProviderType {
  return TYPES.find((row) => row.type === type) ?? { type, name: type, logo: type.slice(0, 1).toUpperCase() };
}
