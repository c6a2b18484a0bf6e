/** A value for every member of every format's reply, as the official libraries declare them. */
import type { Json, JsonObject } from '../../../src/canonical/json.ts';
import { chatReply } from '../../helpers/chat-answers.ts';
import { messageAnswer } from '../../helpers/message-answer.ts';
import { REASONING_ITEM, responsesReply } from '../../helpers/responses-reply.ts';
import { GIVEN, type Group } from './group.ts';
import { PNG } from './samples.ts';

const ECHO = { idle: 'repeats the request' };
const OWN = { idle: 'the name or the time of a reply: ours has its own' };
const COUNT = { idle: 'usage has one record behind all formats' };
const WORD = { idle: 'the same in every reply' };

const completion = (choice: JsonObject, more: JsonObject = {}): JsonObject => {
  const reply = chatReply('Hi', [5, 7]);
  return { ...reply, choices: [{ ...reply.choices[0], ...choice }], ...more };
};
const withMessage = (message: JsonObject): JsonObject =>
  completion({ message: { role: 'assistant', content: 'Hi', ...message } });
const call: JsonObject = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };

const CHAT: Group[] = [
  {
    dialect: 'openai-chat',
    declared: 'chat/ChatCompletion',
    body: (more) => completion({}, more),
    members: {
      id: OWN,
      choices: GIVEN,
      created: OWN,
      model: OWN,
      object: WORD,
      metadata: ECHO,
      moderation: { flagged: true },
      service_tier: 'flex',
      system_fingerprint: 'fp_1',
      usage: { prompt_tokens: 50, completion_tokens: 70, total_tokens: 120 },
    },
  },
  {
    dialect: 'openai-chat',
    declared: 'chat/ChatCompletionMessage',
    body: withMessage,
    members: {
      content: 'Another word',
      refusal: 'I will not say that.',
      role: WORD,
      annotations: [
        { type: 'url_citation', url_citation: { start_index: 0, end_index: 2, title: 'A', url: 'http://a' } },
      ],
      audio: { id: 'audio_1', data: 'UklGRg==', expires_at: 1, transcript: 'Hi' },
      function_call: { name: 'look', arguments: '{}' },
      tool_calls: [call],
    },
  },
  {
    dialect: 'openai-chat',
    body: withMessage,
    members: {
      reasoning_content: 'Hm.',
      reasoning: 'Hm.',
      reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: 'proof', index: 0 }],
      images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }],
    },
  },
  {
    dialect: 'openai-chat',
    body: (more) => completion(more),
    members: {
      finish_reason: 'length',
      'finish_reason ': 'content_filter',
      logprobs: { content: [{ token: 'Hi', logprob: -1, bytes: null, top_logprobs: [] }], refusal: null },
      content_filter_results: { hate: { filtered: true } },
      stop_reason: 'END',
    },
  },
];

const COMPLETIONS: Group[] = [
  {
    dialect: 'openai-completions',
    declared: 'completions/CompletionChoice',
    body: (more) => ({
      id: 'cmpl-1',
      object: 'text_completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, text: 'Hi', logprobs: null, finish_reason: 'stop', ...more }],
    }),
    members: {
      finish_reason: 'length',
      index: GIVEN,
      logprobs: { tokens: ['Hi'], token_logprobs: [-1], top_logprobs: [{ Hi: -1 }], text_offset: [0] },
      text: 'Another word',
    },
  },
];

const message = (more: JsonObject): JsonObject => ({
  ...messageAnswer('Hi', { input_tokens: 5, output_tokens: 7 }),
  ...more,
});
const withBlock = (block: Json | undefined): JsonObject =>
  message({ content: [...(block === undefined ? [] : [block]), { type: 'text', text: 'Hi' }] });

const MESSAGES: Group[] = [
  {
    dialect: 'anthropic-messages',
    declared: 'messages/Message',
    body: message,
    members: {
      id: OWN,
      container: { id: 'container_1', expires_at: 'then' },
      content: [{ type: 'text', text: 'Another word' }],
      diagnostics: { a: 1 },
      model: OWN,
      role: WORD,
      stop_details: { idle: 'beside a refusal alone: another group' },
      stop_reason: 'max_tokens',
      stop_sequence: { idle: 'beside its reason alone: another group' },
      type: WORD,
      usage: { input_tokens: 50, output_tokens: 70 },
    },
  },
  {
    dialect: 'anthropic-messages',
    body: (more) => message({ stop_reason: 'refusal', ...more }),
    members: { stop_details: { type: 'refusal', category: null, explanation: 'Not that.' } },
  },
  {
    dialect: 'anthropic-messages',
    body: (more) => message({ stop_reason: 'stop_sequence', ...more }),
    members: { stop_sequence: 'END' },
  },
  {
    dialect: 'anthropic-messages',
    declared: 'messages/Usage',
    body: (more) => message({ usage: { input_tokens: 5, output_tokens: 7, ...more } }),
    members: {
      cache_creation: COUNT,
      cache_creation_input_tokens: COUNT,
      cache_read_input_tokens: COUNT,
      inference_geo: 'eu',
      input_tokens: COUNT,
      output_tokens: COUNT,
      output_tokens_details: COUNT,
      server_tool_use: COUNT,
      service_tier: 'priority',
      speed: 'fast',
    },
  },
  {
    dialect: 'anthropic-messages',
    declared: 'messages/TextBlock',
    body: (more) => message({ content: [{ type: 'text', text: 'Hi', citations: null, ...more }] }),
    members: {
      citations: [
        {
          type: 'char_location',
          cited_text: 'a',
          document_index: 0,
          document_title: 'A',
          start_char_index: 0,
          end_char_index: 1,
        },
      ],
      text: 'Another word',
      type: WORD,
    },
  },
  {
    dialect: 'anthropic-messages',
    declared: 'messages/ToolUseBlock',
    body: (more) => withBlock({ type: 'tool_use', id: 'toolu_1', name: 'look', input: {}, ...more }),
    members: {
      id: OWN,
      caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' },
      input: { city: 'Oslo' },
      name: 'write',
      type: WORD,
      toolset_name: 'a-set',
    },
  },
  {
    dialect: 'anthropic-messages',
    body: ({ block }) => withBlock(block),
    members: {
      block: { type: 'thinking', thinking: 'Hm.', signature: 'proof' },
      'block ': { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      'block  ': { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      'block   ': { type: 'container_upload', file_id: 'file_1' },
    },
  },
];

const answer = (candidate: JsonObject, more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0, ...candidate }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12 },
  modelVersion: 'm',
  responseId: 'r1',
  ...more,
});
const withPart = (part: Json): JsonObject => answer({ content: { role: 'model', parts: [{ text: 'Hi' }, part] } });

const GEMINI_GROUPS: Group[] = [
  {
    dialect: 'gemini',
    declared: 'gemini/Candidate',
    body: answer,
    members: {
      content: { role: 'model', parts: [{ text: 'Another word' }] },
      citationMetadata: { citations: [{ startIndex: 0, endIndex: 2, uri: 'http://a' }] },
      finishMessage: 'So it ended',
      tokenCount: 7,
      finishReason: 'MAX_TOKENS',
      groundingMetadata: {
        groundingChunks: [{ web: { uri: 'http://a', title: 'A' } }],
        groundingSupports: [{ segment: { startIndex: 0, endIndex: 2, text: 'Hi' }, groundingChunkIndices: [0] }],
      },
      avgLogprobs: -1,
      index: GIVEN,
      logprobsResult: { chosenCandidates: [{ token: 'Hi', logProbability: -1 }], topCandidates: [{ candidates: [] }] },
      safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'NEGLIGIBLE' }],
      urlContextMetadata: { urlMetadata: [{ retrievedUrl: 'http://a' }] },
      continuationToken: 'on',
    },
  },
  {
    dialect: 'gemini',
    body: (more) => answer({}, more),
    members: {
      promptFeedback: { safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'HIGH' }] },
      modelStatus: { modelStage: 'STABLE' },
    },
  },
  {
    dialect: 'gemini',
    declared: 'gemini/GroundingMetadata',
    body: (more) => answer({ groundingMetadata: more }),
    members: {
      groundingChunks: [{ web: { uri: 'http://a', title: 'A' } }],
      retrievalMetadata: { googleSearchDynamicRetrievalScore: 1 },
      searchEntryPoint: { renderedContent: '<b>' },
      webSearchQueries: ['rain'],
      googleMapsWidgetContextToken: 'on',
      imageSearchQueries: ['rain'],
      retrievalQueries: ['rain'],
      sourceFlaggingUris: [{ flagContentUri: 'http://a' }],
    },
    elsewhere: ['groundingSupports'],
  },
  {
    dialect: 'gemini',
    body: ({ part }) => (part === undefined ? answer({}) : withPart(part)),
    members: {
      part: { text: 'Hm.', thought: true },
      'part ': { functionCall: { name: 'look', args: {} } },
      'part  ': { inlineData: { mimeType: 'image/png', data: PNG } },
      'part   ': { inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: 'AAAA' } },
      'part    ': { executableCode: { language: 'PYTHON', code: '1' } },
      'part     ': { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      'part      ': { inlineData: { mimeType: 'video/mp4', data: 'AAAA' } },
    },
  },
];

const response = (more: JsonObject, ...items: Json[]): JsonObject => ({ ...responsesReply([5, 7], items), ...more });

const RESPONSES: Group[] = [
  {
    dialect: 'openai-responses',
    declared: 'responses/Response',
    body: (more) => response(more),
    members: {
      id: OWN,
      access_programs: ECHO,
      output_text: { idle: "the library's own" },
      created_at: OWN,
      error: { idle: 'a failed reply: its own tests' },
      incomplete_details: { idle: 'beside its status alone: another group' },
      instructions: ECHO,
      metadata: ECHO,
      model: OWN,
      object: WORD,
      output: GIVEN,
      parallel_tool_calls: ECHO,
      temperature: ECHO,
      tool_choice: ECHO,
      tools: ECHO,
      top_p: ECHO,
      background: ECHO,
      completed_at: OWN,
      conversation: ECHO,
      image: ECHO,
      max_output_tokens: ECHO,
      max_tool_calls: ECHO,
      moderation: { flagged: true },
      previous_response_id: ECHO,
      prompt: ECHO,
      prompt_cache_diagnostics: { missed: 'why' },
      prompt_cache_key: ECHO,
      prompt_cache_options: ECHO,
      prompt_cache_retention: ECHO,
      reasoning: ECHO,
      safety_identifier: ECHO,
      service_tier: 'flex',
      status: { idle: 'another group' },
      text: ECHO,
      tool_usage: { web_search: { num_requests: 1 } },
      top_logprobs: ECHO,
      truncation: ECHO,
      usage: { input_tokens: 50, output_tokens: 70, total_tokens: 120 },
      user: ECHO,
    },
  },
  {
    dialect: 'openai-responses',
    body: (more) => response({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, ...more }),
    members: { incomplete_details: { reason: 'content_filter' } },
  },
  {
    dialect: 'openai-responses',
    declared: 'responses/ResponseOutputText',
    body: (more) =>
      response({
        output: [
          { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hi', ...more }] },
        ],
      }),
    members: {
      annotations: [{ type: 'url_citation', start_index: 0, end_index: 2, title: 'A', url: 'http://a' }],
      text: 'Another word',
      type: WORD,
      logprobs: [{ token: 'Hi', logprob: -1, bytes: [], top_logprobs: [] }],
    },
  },
  {
    dialect: 'openai-responses',
    body: (more) =>
      response({
        output: [
          { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hi', ...more }] },
        ],
      }),
    members: { annotations: [{ type: 'file_citation', file_id: 'file_1', filename: 'a.txt', index: 0 }] },
  },
  {
    dialect: 'openai-responses',
    body: ({ item }) => (item === undefined ? response({}) : response({}, item)),
    members: {
      item: REASONING_ITEM,
      'item ': { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{}' },
      'item  ': { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'write', input: 'a' },
      'item   ': {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'rain' },
      },
      'item    ': { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: PNG },
      'item     ': { type: 'mcp_call', id: 'mcp_1', name: 'look', server_label: 'tools', arguments: '{}' },
      'item      ': { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    },
  },
];

export const REPLY_GROUPS: readonly Group[] = [...CHAT, ...COMPLETIONS, ...MESSAGES, ...GEMINI_GROUPS, ...RESPONSES];
