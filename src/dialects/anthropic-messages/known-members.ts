/** What of a messages request below its top a call has words for. */
import { type Known, only } from '../unsaid-members.ts';
import { BLOCKS, FunctionTool } from './schema.ts';

const SOURCE = only('type', 'media_type', 'data', 'url', 'file_id', 'content');
const read = (name: keyof typeof BLOCKS) => only('type', ...Object.keys(BLOCKS[name].properties)).members;

const CITED = { citations: only('enabled') };
const PART_TYPES: { readonly [type: string]: Known } = {
  text: { members: read('text') },
  image: { members: { ...read('image'), source: SOURCE } },
  document: { members: { ...read('document'), ...CITED, source: SOURCE } },
  search_result: { members: { ...read('search_result'), ...CITED, content: { each: only('type', 'text') } } },
  thinking: { members: read('thinking') },
  redacted_thinking: { members: read('redacted_thinking') },
};
const CALLER: Known = { types: { direct: 'all', code_execution_20250825: { members: {} } } };

const BLOCK: Known = {
  types: {
    ...PART_TYPES,
    // A call the model made itself says so.
    tool_use: { members: { ...read('tool_use'), caller: CALLER } },
    tool_result: { members: { ...read('tool_result'), content: { each: { types: PART_TYPES } } } },
  },
};

/** All members at the top are read, or kept as extras: here stand those that go deeper. */
export const KNOWN_MEMBERS: Known = {
  deeper: {
    messages: { each: { members: { role: 'all', content: { each: BLOCK } } } },
    system: { each: { types: PART_TYPES } },
    tools: {
      each: { types: { custom: only('type', ...Object.keys(FunctionTool.properties)) }, otherwise: 'custom' },
    },
    tool_choice: only('type', 'name', 'disable_parallel_tool_use'),
    thinking: only('type', 'budget_tokens', 'display'),
    output_config: { members: { effort: 'all', format: only('type', 'schema') } },
  },
};
