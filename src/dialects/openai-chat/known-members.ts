/** What of a chat request below its top a call has words for. */
import { type Known, only } from '../unsaid-members.ts';

const PART: Known = {
  types: {
    text: only('type', 'text', 'cache_control'),
    refusal: only('type', 'refusal'),
    image_url: { members: { type: 'all', image_url: only('url', 'detail'), cache_control: 'all' } },
    input_audio: { members: { type: 'all', input_audio: only('data', 'format'), cache_control: 'all' } },
    file: { members: { type: 'all', file: only('file_data', 'file_id', 'filename'), cache_control: 'all' } },
  },
};

const MESSAGE: Known = {
  members: {
    ...only('role', 'name', 'tool_call_id', 'function_call', 'refusal', 'cache_control').members,
    ...only('reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks', 'extra_content').members,
    // What a client sends back of an answer as it got it says nothing that is asked.
    annotations: 'all',
    content: { each: PART },
    audio: only('id'),
    tool_calls: {
      each: {
        members: {
          ...only('id', 'index', 'type', 'extra_content', 'cache_control').members,
          function: only('name', 'arguments'),
          custom: only('name', 'input'),
        },
      },
    },
  },
};

const TOOL: Known = {
  types: {
    function: {
      members: {
        ...only('type', 'cache_control').members,
        function: only('name', 'description', 'parameters', 'strict'),
      },
    },
    custom: {
      members: { ...only('type', 'cache_control').members, custom: only('name', 'description', 'format') },
    },
  },
  otherwise: 'function',
};

/** All members at the top are read, or kept as extras: here stand those that go deeper. */
export const KNOWN_MEMBERS: Known = {
  deeper: {
    messages: { each: MESSAGE },
    tools: { each: TOOL },
    response_format: {
      types: {
        json_schema: { members: { type: 'all', json_schema: only('name', 'description', 'schema', 'strict') } },
        json_object: only('type'),
        text: only('type'),
      },
    },
  },
};
