/** A value for every member of a chat or text completion request. */
import type { Json, JsonObject } from '../../../src/canonical/json.ts';
import { GIVEN, type Group } from './group.ts';
import { HIDDEN, PDF, PNG, SCHEMA, STORED } from './samples.ts';

const user = (content: Json): JsonObject => ({ role: 'user', content });
const chat = (more: JsonObject): JsonObject => ({ model: 'm', messages: [user('Hello')], ...more });
const chatTool: JsonObject = { type: 'function', function: { name: 'look', parameters: SCHEMA } };
const chatCalls = (more: JsonObject = {}): JsonObject => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"city":"Oslo"}' } }],
  ...more,
});
const chatResult: JsonObject = { role: 'tool', tool_call_id: 'call_1', content: 'rain' };

export const CHAT_REQUESTS: readonly Group[] = [
  {
    dialect: 'openai-chat',
    declared: 'chat/ChatCompletionCreateParamsBase',
    body: chat,
    members: {
      messages: GIVEN,
      model: GIVEN,
      stream: true,
      audio: { voice: 'alloy', format: 'wav' },
      frequency_penalty: 0.5,
      logit_bias: { '50256': -100 },
      logprobs: true,
      max_completion_tokens: 77,
      max_tokens: 77,
      metadata: { purpose: 'a-test' },
      modalities: ['text', 'audio'],
      moderation: { model: 'omni-moderation-latest' },
      n: 2,
      prediction: { type: 'content', content: 'So it may be' },
      presence_penalty: 0.5,
      prompt_cache_key: 'a-key',
      prompt_cache_options: { mode: 'explicit' },
      prompt_cache_retention: '24h',
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA, strict: true } },
      safety_identifier: 'somebody',
      seed: 42,
      service_tier: 'flex',
      stop: ['END'],
      store: STORED,
      stream_options: HIDDEN,
      temperature: 0.25,
      tools: [chatTool],
      top_p: 0.75,
      user: 'somebody',
      verbosity: 'low',
      web_search_options: { search_context_size: 'low' },
      functions: [{ name: 'look', parameters: SCHEMA }],
    },
    elsewhere: ['function_call', 'parallel_tool_calls', 'tool_choice', 'top_logprobs'],
  },
  {
    dialect: 'openai-chat',
    body: (more) => chat({ tools: [chatTool], ...more }),
    members: {
      tool_choice: 'required',
      'tool_choice ': { type: 'function', function: { name: 'look' } },
      'tool_choice  ': { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [chatTool] } },
      parallel_tool_calls: false,
    },
  },
  { dialect: 'openai-chat', body: (more) => chat({ logprobs: true, ...more }), members: { top_logprobs: 3 } },
  {
    dialect: 'openai-chat',
    body: (more) => chat({ functions: [{ name: 'look', parameters: SCHEMA }], ...more }),
    members: { function_call: { name: 'look' } },
  },
  {
    dialect: 'openai-chat',
    declared: 'chat/ChatCompletionSystemMessageParam',
    body: (more) => ({ model: 'm', messages: [{ role: 'system', content: 'Be brief.', ...more }, user('Hello')] }),
    members: { content: GIVEN, role: GIVEN, name: 'teacher' },
  },
  {
    dialect: 'openai-chat',
    declared: 'chat/ChatCompletionUserMessageParam',
    body: (more) => ({ model: 'm', messages: [{ ...user('Hello'), ...more }] }),
    members: { content: GIVEN, role: GIVEN, name: 'pupil' },
  },
  {
    dialect: 'openai-chat',
    declared: 'chat/ChatCompletionAssistantMessageParam',
    body: (more) => ({
      model: 'm',
      messages: [user('Hello'), { role: 'assistant', content: 'Hi', ...more }, user('So')],
    }),
    members: {
      role: GIVEN,
      content: 'Another word',
      audio: { id: 'audio_1' },
      name: 'helper',
      refusal: 'I will not say that.',
      tool_calls: chatCalls().tool_calls ?? null,
      function_call: { name: 'look', arguments: '{"city":"Oslo"}' },
    },
  },
  {
    dialect: 'openai-chat',
    declared: 'chat/ChatCompletionToolMessageParam',
    body: (more) => ({ model: 'm', messages: [user('Hello'), chatCalls(), { ...chatResult, ...more }] }),
    members: { content: [{ type: 'text', text: 'snow' }], role: GIVEN, tool_call_id: GIVEN },
  },
  {
    dialect: 'openai-chat',
    declared: 'chat/ChatCompletionContentPartText',
    body: (more) => chat({ messages: [user([{ type: 'text', text: 'Hello', ...more }])] }),
    members: { text: 'Another word', type: GIVEN, prompt_cache_breakpoint: { mode: 'explicit' } },
  },
  {
    dialect: 'openai-chat',
    declared: 'chat/ChatCompletionContentPartImage',
    body: (more) =>
      chat({ messages: [user([{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` }, ...more }])] }),
    members: {
      image_url: { url: `data:image/png;base64,${PNG}`, detail: 'high' },
      type: GIVEN,
      prompt_cache_breakpoint: { mode: 'explicit' },
    },
  },
  {
    dialect: 'openai-chat',
    body: (more) => chat({ messages: [user(['Hello', ...(more.part ? [more.part] : [])])] }),
    members: {
      'part ': GIVEN,
      part: { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
    },
  },
  {
    dialect: 'openai-chat',
    body: (more) => chat({ messages: [user([{ type: 'text', text: 'Hello' }, ...(more.file ? [more.file] : [])])] }),
    members: { file: { type: 'file', file: { file_data: `data:application/pdf;base64,${PDF}`, filename: 'a.pdf' } } },
  },
  {
    dialect: 'openai-chat',
    declared: 'shared/FunctionDefinition',
    body: (more) => chat({ tools: [{ type: 'function', function: { name: 'look', parameters: SCHEMA, ...more } }] }),
    members: { name: GIVEN, description: 'Looks around', parameters: { type: 'object', properties: {} }, strict: true },
  },
  {
    dialect: 'openai-chat',
    body: (more) => chat({ tools: [chatTool, ...(more.tool ? [more.tool] : [])] }),
    members: {
      tool: {
        type: 'custom',
        custom: { name: 'write', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'a' } } },
      },
    },
  },
];

export const COMPLETIONS_REQUESTS: readonly Group[] = [
  {
    dialect: 'openai-completions',
    declared: 'completions/CompletionCreateParamsBase',
    body: (more) => ({ model: 'm', prompt: 'Once', ...more }),
    members: {
      model: GIVEN,
      prompt: 'Another word',
      best_of: 3,
      echo: { idle: 'our own writer repeats the prompt before a translated answer' },
      frequency_penalty: 0.5,
      logit_bias: { '50256': -100 },
      logprobs: 3,
      max_tokens: 77,
      n: { idle: 'the gateway asks once for each choice, or the format has the member' },
      presence_penalty: 0.5,
      seed: 42,
      stop: ['END'],
      stream: true,
      stream_options: HIDDEN,
      suffix: ' ever after',
      temperature: 0.25,
      top_p: 0.75,
      user: 'somebody',
    },
  },
];
