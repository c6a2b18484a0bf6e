/** What of a Responses request below its top a call has words for. */
import { type Known, only } from '../unsaid-members.ts';

const MARK = 'prompt_cache_breakpoint';
const TEXT = only('type', 'text', 'annotations', MARK);

const PART: Known = {
  types: {
    input_text: TEXT,
    // What the vendor said of its own words is not asked again.
    output_text: { members: { ...TEXT.members, logprobs: 'all' } },
    text: TEXT,
    refusal: only('type', 'refusal'),
    input_image: only('type', 'image_url', 'file_id', 'detail', MARK),
    input_file: only('type', 'file_data', 'file_url', 'file_id', 'filename', MARK),
    input_audio: { members: { ...only('type', MARK).members, input_audio: only('data', 'format') } },
  },
};

/** Ids and states of earlier items are the vendor's own. */
const OF_ITEM = only('type', 'id', 'status').members;
const CALL = only('call_id', 'name', 'namespace').members;

const ITEM: Known = {
  types: {
    message: { members: { ...OF_ITEM, ...only('role', 'phase').members, content: { each: PART } } },
    function_call: { members: { ...OF_ITEM, ...CALL, arguments: 'all' } },
    custom_tool_call: { members: { ...OF_ITEM, ...CALL, input: 'all' } },
    function_call_output: { members: { ...OF_ITEM, call_id: 'all', output: { each: PART } } },
    custom_tool_call_output: { members: { ...OF_ITEM, call_id: 'all', output: { each: PART } } },
    compaction: { members: { ...OF_ITEM, encrypted_content: 'all' } },
    reasoning: { members: { ...OF_ITEM, ...only('summary', 'content', 'encrypted_content').members } },
  },
  otherwise: 'message',
};

/** All members at the top are read, or kept as extras: here stand those that go deeper. */
export const KNOWN_MEMBERS: Known = {
  deeper: {
    input: { each: ITEM },
    tools: {
      each: {
        types: {
          function: only('type', 'name', 'description', 'parameters', 'strict'),
          custom: only('type', 'name', 'description', 'format'),
        },
      },
    },
  },
};
