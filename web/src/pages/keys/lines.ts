/** Ready lines for the clients of a new key. The key is a parameter, so that what is shown can be shortened and what is copied is whole. */
export const CLIENTS = [
  'curl',
  'OpenAI',
  'Anthropic',
  'Google',
  'AI SDK',
  'LangChain',
  'Claude Code',
  'Codex',
  'Gemini CLI',
] as const;
export type Client = (typeof CLIENTS)[number];

export function linesFor(client: Client, key: string, baseUrl: string, model: string): string {
  switch (client) {
    case 'curl':
      return `curl -N ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","stream":true,
       "messages":[{"role":"user","content":"Hello!"}]}'`;
    case 'OpenAI':
      return `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: '${key}' });
const reply = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello!' }],
});`;
    case 'Anthropic':
      return `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '${baseUrl}', apiKey: '${key}' });
const reply = await client.messages.create({
  model: '${model}',
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Hello!' }],
});`;
    case 'Google':
      return `import { GoogleGenAI } from '@google/genai';

const client = new GoogleGenAI({ apiKey: '${key}', httpOptions: { baseUrl: '${baseUrl}' } });
const reply = await client.models.generateContent({ model: '${model}', contents: 'Hello!' });`;
    case 'AI SDK':
      return `import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText } from 'ai';

const modelport = createOpenAICompatible({ name: 'modelport', baseURL: '${baseUrl}/v1', apiKey: '${key}' });
const { text } = await generateText({ model: modelport('${model}'), prompt: 'Hello!' });`;
    case 'LangChain':
      return `from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="${model}", base_url="${baseUrl}/v1", api_key="${key}")
print(model.invoke("Hello!").content)`;
    case 'Claude Code':
      return `export ANTHROPIC_BASE_URL=${baseUrl}
export ANTHROPIC_AUTH_TOKEN=${key}
export ANTHROPIC_MODEL=${model}
claude`;
    case 'Codex':
      return `export MODELPORT_KEY=${key}
codex -c model_provider=modelport -c model=${model} \\
  -c 'model_providers.modelport={name="Modelport", base_url="${baseUrl}/v1", env_key="MODELPORT_KEY", wire_api="responses"}'`;
    default:
      return `export GOOGLE_GEMINI_BASE_URL=${baseUrl}
export GEMINI_API_KEY=${key}
gemini -m ${model}`;
  }
}

/** The model that the lines name: one that this key may call, and of a real provider where there is one. */
export function modelFor(allowed: readonly string[] | undefined, chatModels: readonly string[]): string {
  const own = allowed?.find((name) => !name.includes('*'));
  return own ?? chatModels.find((name) => !name.startsWith('sandbox-')) ?? chatModels[0] ?? 'sandbox-chat';
}

/** `sk-5mWc…qYn0` */
export const shortKey = (key: string): string => (key.length <= 12 ? key : `${key.slice(0, 7)}…${key.slice(-4)}`);
