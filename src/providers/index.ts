/** The table of vendors: a row for each `type` of the configuration. */
import { anthropic } from './anthropic.ts';
import { azure } from './azure.ts';
import { bedrock } from './bedrock.ts';
import { bedrockMantle } from './bedrock-mantle.ts';
import { cerebras } from './cerebras.ts';
import { cohere } from './cohere.ts';
import { dashscope } from './dashscope.ts';
import { deepseek } from './deepseek.ts';
import { elevenlabs } from './elevenlabs.ts';
import { fireworks } from './fireworks.ts';
import { google } from './google.ts';
import { groq } from './groq.ts';
import { huggingface } from './huggingface.ts';
import { jimeng } from './jimeng.ts';
import { jina } from './jina.ts';
import { kling } from './kling.ts';
import { llamacpp } from './llamacpp.ts';
import { lmStudio } from './lm-studio.ts';
import { minimax } from './minimax.ts';
import { mistral } from './mistral.ts';
import { moonshot } from './moonshot.ts';
import { ollama } from './ollama.ts';
import { openai } from './openai.ts';
import { openaiServer } from './openai-server.ts';
import { openrouter } from './openrouter.ts';
import { perplexity } from './perplexity.ts';
import type { Provider } from './provider.ts';
import { runway } from './runway.ts';
import { sandbox } from './sandbox.ts';
import { siliconflow } from './siliconflow.ts';
import { snowflake } from './snowflake.ts';
import { stability } from './stability.ts';
import { together } from './together.ts';
import { vertex } from './vertex.ts';
import { vidu } from './vidu.ts';
import { vllm } from './vllm.ts';
import { volcengine } from './volcengine.ts';
import { voyage } from './voyage.ts';
import { xai } from './xai.ts';
import { zai, zhipu } from './zhipu.ts';

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

/** The vendor of this type; `undefined` where there is no such row. */
export function providerOf(type: string): Provider | undefined {
  return PROVIDERS.get(type);
}
