/** A value for every member of a Responses request. */
import type { JsonObject } from '../../../src/canonical/json.ts';
import { REASONING_ITEM } from '../../helpers/responses-reply.ts';
import { GIVEN, type Group } from './group.ts';
import { HIDDEN, PDF, PNG, SCHEMA, STORED } from './samples.ts';

const responses = (more: JsonObject): JsonObject => ({ model: 'm', input: 'Hello', ...more });
const responsesTool: JsonObject = { type: 'function', name: 'look', parameters: SCHEMA, strict: false };
const withContent = (...content: JsonObject[]): JsonObject => responses({ input: [{ role: 'user', content }] });

export const RESPONSES_REQUESTS: readonly Group[] = [
  {
    dialect: 'openai-responses',
    declared: 'responses/ResponseCreateParamsBase',
    body: responses,
    members: {
      access_programs: ['a'],
      background: { idle: 'answered at once all the same' },
      context_management: [{ type: 'compaction' }],
      conversation: 'conv_1',
      image: { size: 'auto' },
      include: { idle: 'what a reply is to show beside itself: ours always has the reasoning signatures' },
      input: 'Another word',
      instructions: 'Be brief.',
      max_output_tokens: 77,
      max_tool_calls: 3,
      metadata: { purpose: 'a-test' },
      model: GIVEN,
      moderation: { model: 'omni-moderation-latest' },
      previous_response_id: 'resp_1',
      prompt: { id: 'pmpt_1' },
      prompt_cache_key: 'a-key',
      prompt_cache_options: { mode: 'explicit' },
      prompt_cache_retention: '24h',
      reasoning: { effort: 'low' },
      safety_identifier: 'somebody',
      service_tier: 'flex',
      store: STORED,
      stream: true,
      stream_options: HIDDEN,
      temperature: 0.25,
      text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA } },
      tools: [responsesTool],
      top_logprobs: { idle: 'only with logprobs: another group' },
      top_p: 0.75,
      truncation: { idle: 'the gateway does it' },
      user: 'somebody',
    },
    elsewhere: ['parallel_tool_calls', 'tool_choice'],
  },
  {
    dialect: 'openai-responses',
    body: (more) => responses({ include: ['message.output_text.logprobs'], ...more }),
    members: { top_logprobs: 3 },
  },
  {
    dialect: 'openai-responses',
    body: (more) => responses({ tools: [responsesTool], ...more }),
    members: {
      parallel_tool_calls: false,
      tool_choice: 'required',
      'tool_choice ': { type: 'function', name: 'look' },
      'tool_choice  ': { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'look' }] },
      'tool_choice   ': { type: 'mcp', server_label: 'tools' },
    },
  },
  {
    dialect: 'openai-responses',
    declared: 'shared/Reasoning',
    body: (more) => responses({ reasoning: more }),
    members: {
      context: 'all_turns',
      effort: 'low',
      generate_summary: 'auto',
      mode: 'pro',
      summary: { idle: 'how thoughts are shown: most providers show them or have none to show' },
    },
  },
  {
    dialect: 'openai-responses',
    declared: 'responses/ResponseTextConfig',
    body: (more) => responses({ text: more }),
    members: { format: { type: 'json_object' }, verbosity: 'low' },
  },
  {
    dialect: 'openai-responses',
    declared: 'responses/ResponseFormatTextJSONSchemaConfig',
    body: (more) => responses({ text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA, ...more } } }),
    members: {
      name: { idle: 'a label' },
      schema: { type: 'object', properties: { town: { type: 'string' } } },
      type: GIVEN,
      description: 'Where it is',
      strict: { idle: 'a schema is enforced if the provider can, and its dialect warns otherwise' },
    },
  },
  {
    dialect: 'openai-responses',
    declared: 'responses/ResponseInputText',
    body: (more) => withContent({ type: 'input_text', text: 'Hello', ...more }),
    members: { text: 'Another word', type: GIVEN, prompt_cache_breakpoint: { mode: 'explicit' } },
  },
  {
    dialect: 'openai-responses',
    declared: 'responses/ResponseInputImage',
    body: (more) => withContent({ type: 'input_image', image_url: `data:image/png;base64,${PNG}`, ...more }),
    members: {
      detail: 'high',
      type: GIVEN,
      image_url: GIVEN,
      prompt_cache_breakpoint: { mode: 'explicit' },
    },
    elsewhere: ['file_id'],
  },
  {
    dialect: 'openai-responses',
    declared: 'responses/ResponseInputFile',
    body: (more) => withContent({ type: 'input_file', file_data: `data:application/pdf;base64,${PDF}`, ...more }),
    members: {
      type: GIVEN,
      detail: 'high',
      file_data: GIVEN,
      filename: 'a.pdf',
      prompt_cache_breakpoint: { mode: 'explicit' },
    },
    elsewhere: ['file_id', 'file_url'],
  },
  {
    dialect: 'openai-responses',
    body: (more) => withContent({ type: 'input_text', text: 'Hello' }, ...(more.part ? [more.part as JsonObject] : [])),
    members: {
      part: { type: 'input_image', file_id: 'file_1' },
      'part ': { type: 'input_file', file_id: 'file_1' },
      'part  ': { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
    },
  },
  {
    dialect: 'openai-responses',
    declared: 'responses/FunctionTool',
    body: (more) => responses({ tools: [{ ...responsesTool, ...more }] }),
    members: {
      name: GIVEN,
      parameters: { type: 'object', properties: {} },
      strict: true,
      type: GIVEN,
      allowed_callers: ['direct'],
      async: true,
      defer_loading: true,
      description: 'Looks around',
      output_schema: SCHEMA,
    },
  },
  {
    dialect: 'openai-responses',
    declared: 'responses/CustomTool',
    body: (more) => responses({ tools: [{ type: 'custom', name: 'write', ...more }] }),
    members: {
      name: GIVEN,
      type: GIVEN,
      allowed_callers: ['direct'],
      async: true,
      defer_loading: true,
      description: 'Writes it',
      format: { type: 'grammar', syntax: 'lark', definition: 'a' },
    },
  },
  {
    dialect: 'openai-responses',
    declared: 'responses/WebSearchTool',
    body: (more) => responses({ tools: [{ type: 'web_search', ...more }] }),
    members: {
      type: GIVEN,
      external_web_access: false,
      filters: { allowed_domains: ['somewhere.org'] },
      search_context_size: 'low',
      user_location: { type: 'approximate', city: 'Oslo' },
    },
  },
  {
    dialect: 'openai-responses',
    body: (more) => responses({ tools: [responsesTool, ...(more.tool ? [more.tool] : [])] }),
    members: {
      tool: { type: 'mcp', server_label: 'tools', server_url: 'http://tools' },
      'tool ': { type: 'code_interpreter', container: { type: 'auto' } },
      'tool  ': { type: 'image_generation' },
    },
  },
  {
    dialect: 'openai-responses',
    body: (more) =>
      responses({
        input: [{ role: 'user', content: 'Hello' }, ...(more.item ? [more.item] : []), { role: 'user', content: 'So' }],
      }),
    members: {
      item: REASONING_ITEM,
      'item ': { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'rain' } },
      'item  ': { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'I will not say that.' }] },
      'item   ': { type: 'compaction', encrypted_content: 'proof' },
    },
  },
  {
    dialect: 'openai-responses',
    declared: 'responses/ResponseFunctionToolCall',
    body: (more) =>
      responses({
        input: [
          { role: 'user', content: 'Hello' },
          { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"city":"Oslo"}', ...more },
          { type: 'function_call_output', call_id: 'call_1', output: 'rain' },
        ],
      }),
    members: {
      arguments: '{"city":"Bergen"}',
      call_id: GIVEN,
      name: GIVEN,
      type: GIVEN,
      id: { idle: "the provider's own" },
      async: true,
      caller: { type: 'program', caller_id: 'a' },
      namespace: { idle: 'a signature: it goes back to its own provider' },
      status: { idle: "the provider's own" },
    },
  },
];
