/** The table of providers, by their `type` in the configuration. */
import { anthropic } from './chat/anthropic.ts';
import { cerebras } from './chat/cerebras.ts';
import { cohere } from './chat/cohere.ts';
import { dashscope } from './chat/dashscope.ts';
import { deepseek } from './chat/deepseek.ts';
import { fireworks } from './chat/fireworks.ts';
import { google } from './chat/google.ts';
import { groq } from './chat/groq.ts';
import { huggingface } from './chat/huggingface.ts';
import { mistral } from './chat/mistral.ts';
import { moonshot } from './chat/moonshot.ts';
import { openai } from './chat/openai.ts';
import { openrouter } from './chat/openrouter.ts';
import { perplexity } from './chat/perplexity.ts';
import { sandbox } from './chat/sandbox.ts';
import { siliconflow } from './chat/siliconflow.ts';
import { together } from './chat/together.ts';
import { volcengine } from './chat/volcengine.ts';
import { xai } from './chat/xai.ts';
import { zai, zhipu } from './chat/zhipu.ts';
import { azure } from './clouds/azure.ts';
import { bedrock } from './clouds/bedrock.ts';
import { bedrockMantle } from './clouds/bedrock-mantle.ts';
import { snowflake } from './clouds/snowflake.ts';
import { vertex } from './clouds/vertex.ts';
import { elevenlabs } from './media/elevenlabs.ts';
import { stability } from './media/stability.ts';
import type { Provider } from './provider.ts';
import { jina } from './retrieval/jina.ts';
import { voyage } from './retrieval/voyage.ts';
import { llamacpp } from './self-hosted/llamacpp.ts';
import { lmStudio } from './self-hosted/lm-studio.ts';
import { ollama } from './self-hosted/ollama.ts';
import { openaiServer } from './self-hosted/openai-server.ts';
import { vllm } from './self-hosted/vllm.ts';
import { jimeng } from './video/jimeng.ts';
import { kling } from './video/kling.ts';
import { minimax } from './video/minimax.ts';
import { runway } from './video/runway.ts';
import { vidu } from './video/vidu.ts';

const ROWS: readonly Provider[] = [
  openai,
  openaiServer,
  anthropic,
  azure,
  bedrock,
  bedrockMantle,
  cerebras,
  cohere,
  dashscope,
  deepseek,
  elevenlabs,
  fireworks,
  google,
  groq,
  huggingface,
  jimeng,
  jina,
  kling,
  llamacpp,
  lmStudio,
  minimax,
  mistral,
  moonshot,
  ollama,
  openrouter,
  perplexity,
  runway,
  sandbox,
  siliconflow,
  snowflake,
  stability,
  together,
  vertex,
  vidu,
  vllm,
  volcengine,
  voyage,
  xai,
  zai,
  zhipu,
];

export const PROVIDERS: ReadonlyMap<string, Provider> = new Map(ROWS.map((row) => [row.name, row]));

/** Returns `undefined` for an unknown type. */
export function providerOf(type: string): Provider | undefined {
  return PROVIDERS.get(type);
}
