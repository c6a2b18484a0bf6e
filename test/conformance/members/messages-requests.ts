/** A value for every member of a messages request. */
import type { Json, JsonObject } from '../../../src/canonical/json.ts';
import { GIVEN, type Group } from './group.ts';
import { PDF, PNG, SCHEMA } from './samples.ts';

const user = (content: Json): JsonObject => ({ role: 'user', content });
const messages = (more: JsonObject): JsonObject => ({
  model: 'm',
  max_tokens: 4000,
  messages: [user('Hello')],
  ...more,
});
const inTurn = (block: JsonObject): JsonObject => messages({ messages: [user([block])] });
const messagesTool: JsonObject = { name: 'look', input_schema: SCHEMA };
const toolUse: JsonObject = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { city: 'Oslo' } };
const afterCall = (call: JsonObject, result: JsonObject): JsonObject =>
  messages({
    tools: [messagesTool],
    messages: [
      user('Hello'),
      { role: 'assistant', content: [{ ...toolUse, ...call }] },
      user([{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'rain', ...result }]),
    ],
  });
const MARK = { type: 'ephemeral' };

export const MESSAGES_REQUESTS: readonly Group[] = [
  {
    dialect: 'anthropic-messages',
    declared: 'messages/MessageCreateParamsBase',
    body: messages,
    members: {
      max_tokens: 77,
      messages: GIVEN,
      model: GIVEN,
      stream: true,
      cache_control: MARK,
      container: 'container_1',
      diagnostics: { previous_message_id: 'msg_1' },
      inference_geo: 'eu',
      metadata: { user_id: 'somebody' },
      output_config: { format: { type: 'json_schema', schema: SCHEMA } },
      service_tier: 'standard_only',
      speed: 'fast',
      stop_sequences: ['END'],
      system: 'Be brief.',
      thinking: { type: 'enabled', budget_tokens: 2000 },
      tools: [messagesTool],
      user_profile_id: 'profile_1',
      workspace_id: 'workspace_1',
    },
    elsewhere: ['tool_choice'],
  },
  {
    dialect: 'anthropic-messages',
    body: messages,
    members: {
      temperature: 0.25,
      top_p: 0.75,
      top_k: 5,
      mcp_servers: [{ type: 'url', url: 'http://tools', name: 'tools' }],
      context_management: { edits: [] },
      'output_config.effort': { idle: 'another group' },
    },
  },
  {
    dialect: 'anthropic-messages',
    declared: 'messages/OutputConfig',
    body: (more) => messages({ output_config: more }),
    members: { effort: 'low', format: { type: 'json_schema', schema: SCHEMA } },
  },
  {
    dialect: 'anthropic-messages',
    body: (more) => messages({ tools: [messagesTool], ...more }),
    members: {
      tool_choice: { type: 'any' },
      'tool_choice ': { type: 'tool', name: 'look' },
      'tool_choice  ': { type: 'auto', disable_parallel_tool_use: true },
    },
  },
  {
    dialect: 'anthropic-messages',
    declared: 'messages/ThinkingConfigEnabled',
    body: (more) => messages({ thinking: { type: 'enabled', budget_tokens: 2000, ...more } }),
    members: { type: GIVEN, budget_tokens: 3500, display: { idle: 'how thoughts are shown' } },
  },
  {
    dialect: 'anthropic-messages',
    declared: 'messages/TextBlockParam',
    body: (more) => inTurn({ type: 'text', text: 'Hello', ...more }),
    members: {
      text: 'Another word',
      type: GIVEN,
      cache_control: MARK,
      citations: [
        {
          type: 'char_location',
          cited_text: 'a',
          document_index: 0,
          document_title: null,
          start_char_index: 0,
          end_char_index: 1,
        },
      ],
    },
  },
  {
    dialect: 'anthropic-messages',
    declared: 'messages/ImageBlockParam',
    body: (more) => inTurn({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG }, ...more }),
    members: { source: GIVEN, type: GIVEN, cache_control: MARK, transformations: [{ type: 'resize' }] },
  },
  {
    dialect: 'anthropic-messages',
    declared: 'messages/DocumentBlockParam',
    body: (more) =>
      inTurn({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF }, ...more }),
    members: {
      source: { type: 'text', media_type: 'text/plain', data: 'All of it' },
      type: GIVEN,
      cache_control: MARK,
      citations: { enabled: true },
      context: 'From the archive',
      title: 'A report',
    },
  },
  {
    dialect: 'anthropic-messages',
    declared: 'messages/SearchResultBlockParam',
    body: (more) =>
      inTurn({
        type: 'search_result',
        source: 'http://somewhere',
        title: 'A page',
        content: [{ type: 'text', text: 'All of it' }],
        ...more,
      }),
    members: {
      content: GIVEN,
      source: 'http://elsewhere',
      title: 'Another page',
      type: GIVEN,
      cache_control: MARK,
      citations: { enabled: true },
    },
  },
  {
    dialect: 'anthropic-messages',
    declared: 'messages/ToolUseBlockParam',
    body: (more) => afterCall(more, {}),
    members: {
      id: GIVEN,
      input: { city: 'Bergen' },
      name: GIVEN,
      type: GIVEN,
      cache_control: MARK,
      caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' },
      toolset_name: 'a-set',
    },
  },
  {
    dialect: 'anthropic-messages',
    declared: 'messages/ToolResultBlockParam',
    body: (more) => afterCall({}, more),
    members: {
      tool_use_id: GIVEN,
      type: GIVEN,
      cache_control: MARK,
      content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }],
      is_error: true,
      toolset_name: 'a-set',
    },
  },
  {
    dialect: 'anthropic-messages',
    declared: 'messages/Tool',
    body: (more) => messages({ tools: [{ ...messagesTool, ...more }] }),
    members: {
      input_schema: GIVEN,
      name: GIVEN,
      type: { idle: '"custom" is what a tool is that does not say' },
      allowed_callers: ['direct'],
      cache_control: MARK,
      defer_loading: true,
      description: 'Looks around',
      eager_input_streaming: true,
      input_examples: [{ city: 'Oslo' }],
      strict: true,
    },
  },
  {
    dialect: 'anthropic-messages',
    declared: 'messages/WebSearchTool20250305',
    body: (more) => messages({ tools: [{ type: 'web_search_20250305', name: 'web_search', ...more }] }),
    members: {
      name: GIVEN,
      type: GIVEN,
      allowed_callers: ['direct'],
      allowed_domains: ['somewhere.org'],
      blocked_domains: ['elsewhere.org'],
      cache_control: MARK,
      defer_loading: true,
      max_uses: 3,
      strict: true,
      user_location: { type: 'approximate', city: 'Oslo' },
    },
  },
  {
    dialect: 'anthropic-messages',
    body: (more) =>
      messages({
        messages: [
          user('Hello'),
          { role: 'assistant', content: [...(more.block ? [more.block] : []), { type: 'text', text: 'Hi' }] },
          user('So'),
        ],
      }),
    members: {
      block: { type: 'thinking', thinking: 'Hm.', signature: 'proof' },
      'block ': GIVEN,
    },
  },
];
