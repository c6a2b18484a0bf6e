// The AI SDK with the packages of its providers; it runs the loop of turns itself.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, jsonSchema, Output, streamText, tool } from 'ai';
import { contentOf } from './shared.mjs';

const THINKING = {
  openai: { reasoningEffort: 'low', reasoningSummary: 'auto', forceReasoning: true },
  anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } },
  google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } },
  compatible: { reasoningEffort: 'low' },
};

const MODELS = {
  'ai-chat': ({ url, apiKey, model }) => createOpenAI({ apiKey, baseURL: `${url}/v1` }).chat(model),
  'ai-responses': ({ url, apiKey, model }) => createOpenAI({ apiKey, baseURL: `${url}/v1` }).responses(model),
  'ai-messages': ({ url, apiKey, model }) => createAnthropic({ apiKey, baseURL: `${url}/v1` })(model),
  'ai-gemini': ({ url, apiKey, model }) => createGoogleGenerativeAI({ apiKey, baseURL: `${url}/v1beta` })(model),
  'ai-compatible': ({ url, apiKey, model }) =>
    createOpenAICompatible({
      name: 'compatible',
      apiKey,
      baseURL: `${url}/v1`,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })(model),
};

export const AI_CLIENTS = Object.keys(MODELS);

/** The steps of the SDK's own loop, as turns. */
export async function converse(scenario, { signal, onText, resultOf }) {
  const { client, system, prompt, tools = [], schema, stream, retries = 0, mostTurns } = scenario;
  const request = {
    model: MODELS[client](scenario),
    maxRetries: retries,
    abortSignal: signal,
    stopWhen: isStepCount(mostTurns),
    ...(system && { instructions: system }),
    messages: [{ role: 'user', content: contentOf(prompt, toPart) }],
    ...(tools.length > 0 && { tools: Object.fromEntries(tools.map((each) => [each.name, toTool(each, resultOf)])) }),
    ...(schema && { output: Output.object({ schema: jsonSchema(schema) }) }),
    ...settings(scenario),
  };
  if (!stream) return (await generateText(request)).steps.map(toTurn);
  const result = streamText({ ...request, onError() {} });
  for await (const part of result.fullStream) {
    if (part.type === 'text-delta') onText(part.text);
    if (part.type === 'error') throw part.error;
    if (part.type === 'abort') throw new DOMException('aborted', 'AbortError');
  }
  return (await result.steps).map(toTurn);
}

function settings({ think, choice, stop, maxTokens, oneAtATime, extra }) {
  const providerOptions = {
    openai: { store: false, ...(think && THINKING.openai), ...(oneAtATime && { parallelToolCalls: false }) },
    anthropic: {
      structuredOutputMode: 'outputFormat',
      ...(think && THINKING.anthropic),
      ...(oneAtATime && { disableParallelToolUse: true }),
    },
    google: { ...(think && THINKING.google) },
    compatible: { ...(think && THINKING.compatible) },
  };
  return {
    providerOptions,
    maxOutputTokens: maxTokens ?? 2000,
    ...(choice && { toolChoice: typeof choice === 'string' ? choice : { type: 'tool', toolName: choice.name } }),
    ...(stop && { stopSequences: stop }),
    ...extra,
  };
}

function toTool({ name, description, schema }, resultOf) {
  return tool({
    description,
    inputSchema: jsonSchema(schema),
    async execute(args) {
      const { text, failed } = resultOf({ name, args });
      if (failed) throw new Error(text);
      return text;
    },
  });
}

function toTurn(step) {
  const { usage } = step;
  return {
    id: step.response.id,
    model: step.response.modelId,
    text: step.text,
    refusal: '',
    reasoning: step.reasoningText ?? '',
    calls: step.toolCalls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, args: input })),
    finish: step.finishReason,
    sources: step.sources.map(({ url }) => url),
    usage: {
      input: usage.inputTokens,
      output: usage.outputTokens,
      cachedInput: usage.inputTokenDetails?.cacheReadTokens ?? 0,
      reasoning: usage.outputTokenDetails?.reasoningTokens ?? 0,
    },
  };
}

function toPart(part) {
  if (part.type === 'text') return part;
  const data = part.url ? new URL(part.url) : part.data;
  return { type: 'file', data, mediaType: part.mediaType, ...(part.name && { filename: part.name }) };
}
