// The same conversations by the frameworks, which have companions of their own, and by Groq's library.

import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { tool as chainTool } from '@langchain/core/tools';
import { concat } from '@langchain/core/utils/stream';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, tool as agentTool, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents';
import Groq from 'groq-sdk';
import OpenAI from 'openai';
import { chatLoop, loop, RESULT, SCHEMA, TOOL } from './libraries.mjs';

setTracingDisabled(true);

export function groq(_format, at) {
  const { chat } = new Groq({ apiKey: at.apiKey, baseURL: at.url, maxRetries: 0 });
  return chatLoop(chat.completions, at);
}

const CHAINED = {
  'openai-chat': ({ url, ...more }) =>
    new ChatOpenAI({ ...more, configuration: { baseURL: `${url}/v1` }, useResponsesApi: false }),
  'openai-responses': ({ url, ...more }) =>
    new ChatOpenAI({ ...more, configuration: { baseURL: `${url}/v1` }, useResponsesApi: true }),
  'anthropic-messages': ({ url, ...more }) => new ChatAnthropic({ ...more, anthropicApiUrl: url, maxTokens: 100 }),
  gemini: ({ url, ...more }) => new ChatGoogleGenerativeAI({ ...more, baseUrl: url }),
};

export async function langchain(format, { url, apiKey, model, stream, system, prompt, tools, schema }) {
  const chat = CHAINED[format]({ url, apiKey, model, maxRetries: 0 });
  if (schema) {
    const structured = chat.withStructuredOutput(SCHEMA, { name: 'place', method: 'jsonSchema' });
    return {
      text: JSON.stringify(await structured.invoke([new SystemMessage(system), new HumanMessage(prompt)])),
      calls: [],
    };
  }
  const weather = chainTool(async () => RESULT, { ...TOOL, schema: SCHEMA });
  const bound = tools ? chat.bindTools([weather]) : chat;
  const ask = async (history) => {
    const messages = [new SystemMessage(system), new HumanMessage(prompt), ...history];
    const message = stream
      ? (await Array.fromAsync(await bound.stream(messages))).reduce((all, chunk) => concat(all, chunk))
      : await bound.invoke(messages);
    return { message, text: message.text, calls: message.tool_calls ?? [] };
  };
  return loop(ask, ({ message, calls }) => [
    message,
    ...calls.map(({ id, name }) => new ToolMessage({ tool_call_id: id, name, content: RESULT })),
  ]);
}

export async function agents(format, { url, apiKey, model, stream, system, prompt, tools, schema }) {
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  const provider = new OpenAIProvider({ openAIClient: client, useResponses: format === 'openai-responses' });
  const calls = [];
  const weather = agentTool({
    ...TOOL,
    parameters: SCHEMA,
    strict: true,
    async execute(args) {
      calls.push([TOOL.name, typeof args === 'string' ? JSON.parse(args) : args]);
      return RESULT;
    },
  });
  const agent = new Agent({
    name: 'Matrix',
    model,
    instructions: system,
    ...(tools && { tools: [weather] }),
    ...(schema && { outputType: { type: 'json_schema', name: 'place', strict: true, schema: SCHEMA } }),
  });
  const runner = new Runner({ modelProvider: provider, tracingDisabled: true });
  const result = await runner.run(agent, prompt, { stream, maxTurns: 3 });
  if (stream) {
    for await (const _ of result);
    await result.completed;
  }
  const { finalOutput: output } = result;
  return { text: typeof output === 'string' ? output : JSON.stringify(output), calls };
}
