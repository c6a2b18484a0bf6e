/** OpenAPI operations for chat. */
import { Type } from 'typebox';
import { MessagesRequest } from '../../dialects/chat/anthropic-messages/request-schema.ts';
import { batchEmbedBody, EmbedContentRequest } from '../../dialects/chat/gemini/embeddings/request-schema.ts';
import { GenerateRequest } from '../../dialects/chat/gemini/request-schema.ts';
import { ChatRequest } from '../../dialects/chat/openai-chat/request-schema.ts';
import { CompletionRequest } from '../../dialects/chat/openai-completions/request-schema.ts';
import { ResponsesRequest } from '../../dialects/chat/openai-responses/request-schema.ts';
import { ResponseItems } from './account-replies.ts';
import {
  ChatChunk,
  ChatReply,
  CompactReply,
  CompletionChunk,
  CompletionReply,
  GenerateReply,
  MessagesEvent,
  MessagesReply,
  ResponsesEvent,
  ResponsesReply,
} from './chat-replies.ts';
import { BatchEmbedReply, EmbedContentReply } from './media-replies.ts';
import type { Operation, Operations } from './operation.ts';

const model = 'sandbox-chat';
const QUESTION = 'Name three primary colors.';

const { max_tokens: _, ...counted } = MessagesRequest.properties;
const CountMessages = Type.Object(counted, { $name: 'CountMessageTokensRequest' });
const CountGenerate = Type.Object(
  { contents: GenerateRequest.properties.contents, generateContentRequest: Type.Optional(GenerateRequest) },
  { $name: 'CountTokensRequest' },
);
const { input, instructions, previous_response_id, prompt_cache_key, service_tier } = ResponsesRequest.properties;
const Compact = Type.Object(
  {
    model: ResponsesRequest.properties.model,
    input,
    instructions,
    previous_response_id,
    prompt_cache_key,
    service_tier,
  },
  { $name: 'CompactRequest' },
);

const RESPONSE = { id: 'resp_1Zk3v9' };
/** OpenAI's answer. This gateway always refuses. */
const CANCELLED = {
  id: 'resp_1Zk3v9',
  object: 'response',
  created_at: 1_795_357_840,
  status: 'cancelled',
  model,
  output: [],
};
const ofResponses = (id: string, more: Partial<Operation>): Operation => ({
  id,
  tag: 'Responses',
  path: RESPONSE,
  ...more,
});

const contents = [{ role: 'user', parts: [{ text: QUESTION }] }];

/** The same operation under both of Google's versions. */
function google(action: string, operation: Operation, called = model): [string, Operation][] {
  const named = { ...operation, path: { model: called } };
  return [
    [`POST /v1beta/models/{model}:${action}`, named],
    [`POST /v1/models/{model}:${action}`, { ...named, id: `${operation.id}V1` }],
  ];
}

export const CHAT_OPERATIONS: Operations = {
  'POST /v1/chat/completions': {
    id: 'createChatCompletion',
    tag: 'Chat',
    body: ChatRequest,
    reply: ChatReply,
    events: ChatChunk,
    request: { model, messages: [{ role: 'user', content: QUESTION }], max_tokens: 100 },
  },
  'POST /v1/completions': {
    id: 'createCompletion',
    tag: 'Chat',
    body: CompletionRequest,
    reply: CompletionReply,
    events: CompletionChunk,
    request: { model, prompt: 'Red, green and', max_tokens: 16 },
  },
  'POST /v1/messages': {
    id: 'createMessage',
    tag: 'Messages',
    body: MessagesRequest,
    reply: MessagesReply,
    events: MessagesEvent,
    headers: ['anthropic-version'],
    request: { model, max_tokens: 100, messages: [{ role: 'user', content: QUESTION }] },
  },
  'POST /v1/messages/count_tokens': {
    id: 'countMessageTokens',
    tag: 'Messages',
    body: CountMessages,
    headers: ['anthropic-version'],
    request: { model, messages: [{ role: 'user', content: QUESTION }] },
  },
  'POST /v1/responses': {
    id: 'createResponse',
    tag: 'Responses',
    body: ResponsesRequest,
    reply: ResponsesReply,
    events: ResponsesEvent,
    request: { model, input: QUESTION, max_output_tokens: 100 },
  },
  'POST /v1/responses/compact': {
    id: 'compactResponse',
    tag: 'Responses',
    body: Compact,
    reply: CompactReply,
    request: { model, input: [{ role: 'user', content: QUESTION }] },
  },
  'POST /v1/responses/input_tokens': {
    id: 'countResponseTokens',
    tag: 'Responses',
    body: ResponsesRequest,
    request: { model, input: QUESTION },
  },
  'GET /v1/responses/{id}': ofResponses('getResponse', { reply: ResponsesReply, events: ResponsesEvent }),
  'DELETE /v1/responses/{id}': ofResponses('deleteResponse', {}),
  'GET /v1/responses/{id}/input_items': ofResponses('listResponseItems', { reply: ResponseItems }),
  'POST /v1/responses/{id}/cancel': ofResponses('cancelResponse', { reply: ResponsesReply, example: CANCELLED }),
  ...Object.fromEntries([
    ...google('generateContent', {
      id: 'generateContent',
      tag: 'Gemini',
      body: GenerateRequest,
      reply: GenerateReply,
      request: { contents },
    }),
    ...google('streamGenerateContent', {
      id: 'streamGenerateContent',
      tag: 'Gemini',
      body: GenerateRequest,
      reply: Type.Array(GenerateReply),
      events: GenerateReply,
      request: { contents },
    }),
    ...google('countTokens', {
      id: 'countTokens',
      tag: 'Gemini',
      body: CountGenerate,
      request: { contents },
    }),
    ...google(
      'embedContent',
      {
        id: 'embedContent',
        tag: 'Gemini',
        body: EmbedContentRequest,
        reply: EmbedContentReply,
        request: { content: { parts: [{ text: QUESTION }] }, outputDimensionality: 4 },
      },
      'sandbox-embed',
    ),
    ...google(
      'batchEmbedContents',
      {
        id: 'batchEmbedContents',
        tag: 'Gemini',
        body: batchEmbedBody(),
        reply: BatchEmbedReply,
        request: { requests: [{ content: { parts: [{ text: QUESTION }] }, outputDimensionality: 4 }] },
      },
      'sandbox-embed',
    ),
  ]),
};
