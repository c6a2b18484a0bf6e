/** The response object around the output: all members that the libraries read, the client's own settings among them. */
import type { ChatCall } from '../../canonical/call.ts';
import type { JsonObject } from '../../canonical/json.ts';
import type { Finish } from '../../canonical/reply.ts';
import { pickMembers } from '../json.ts';
import { OPENAI_RESPONSES } from './name.ts';

const DEFAULTS: JsonObject = {
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
};
const ECHOED = new Set(Object.keys(DEFAULTS));

/** What the client asked for, as the reply repeats it. */
export function echoedSettings(call: ChatCall): JsonObject {
  const said = call.origin.dialect === OPENAI_RESPONSES ? pickMembers(call.origin.body, ECHOED) : {};
  const settings = { ...DEFAULTS };
  for (const [member, value] of Object.entries(said)) if (value !== null) settings[member] = value;
  return { ...settings, ...keptAs(call) };
}

/** What says that the reply is kept, and where it goes on from. */
export function keptAs({ thread }: ChatCall): JsonObject {
  if (!thread) return {};
  const { previous, replyId } = thread;
  return { store: replyId !== undefined, previous_response_id: previous ?? null };
}

/** How the reply ended, as members of its object. */
export function writeFinish({ reason, raw, explanation }: Finish): JsonObject {
  switch (reason) {
    case 'length':
      return incomplete('max_output_tokens');
    case 'content-filter':
    case 'refusal':
      return incomplete('content_filter');
    case 'pause':
      return raw === 'queued' || raw === 'in_progress' ? { status: raw } : incomplete(raw ?? 'pause');
    case 'broken-call': {
      const message = explanation ?? 'The model made a tool call that cannot be read.';
      return { status: 'failed', error: { code: 'server_error', message } };
    }
    case 'stop':
    case 'stop-sequence':
    case 'tool-calls':
    case 'other':
      return { status: 'completed' };
    default:
      return reason satisfies never;
  }
}

function incomplete(reason: string): JsonObject {
  return { status: 'incomplete', incomplete_details: { reason } };
}
