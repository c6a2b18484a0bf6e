/** The response object around the output: all members that the libraries read, the client's own settings among them. */
import type { ChatCall } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Finish } from '../../../canonical/reply.ts';
import { pickMembers } from '../../wire/json.ts';
import { OPENAI_RESPONSES } from '../names.ts';

const DEFAULT_TEXT = { format: { type: 'text' } };
const NO_REASONING: JsonObject = { effort: null, summary: null };
/** Of a function, and of a schema for the answer: nobody here makes them strict unasked. */
const FUNCTION_DEFAULTS: JsonObject = { description: null, parameters: null, strict: false };
const SCHEMA_DEFAULTS: JsonObject = { description: null, strict: false };
const DEFAULTS: JsonObject = {
  background: false,
  frequency_penalty: 0,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: NO_REASONING,
  safety_identifier: null,
  service_tier: 'default',
  store: true,
  temperature: 1,
  text: DEFAULT_TEXT,
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
};
const ECHOED = new Set(Object.keys(DEFAULTS));

/** What the client asked for, as the reply repeats it: with all that a strict reader of the format looks for. */
export function echoedSettings(call: ChatCall): JsonObject {
  const said = call.origin.dialect === OPENAI_RESPONSES ? pickMembers(call.origin.body, ECHOED) : {};
  const settings = { ...DEFAULTS };
  for (const [member, value] of Object.entries(said)) if (value !== null) settings[member] = value;
  settings.reasoning = { ...NO_REASONING, ...(isObject(settings.reasoning) && settings.reasoning) };
  settings.text = wholeText(settings.text ?? null);
  settings.tools = wholeTools(settings.tools ?? null);
  return { ...settings, ...keptAs(call) };
}

/** Settings of text with every member of its format. */
export function wholeText(text: Json): Json {
  if (!isObject(text)) return DEFAULT_TEXT;
  const { format } = text;
  if (!isObject(format)) return { ...DEFAULT_TEXT, ...text, format: DEFAULT_TEXT.format };
  return format.type === 'json_schema' && lacks(format, SCHEMA_DEFAULTS)
    ? { ...text, format: completed(format, SCHEMA_DEFAULTS) }
    : text;
}

/** Tools with every member of a function. */
export function wholeTools(tools: Json): Json {
  if (!Array.isArray(tools)) return [];
  const isWhole = (tool: Json) => !isObject(tool) || tool.type !== 'function' || !lacks(tool, FUNCTION_DEFAULTS);
  if (tools.every(isWhole)) return tools;
  return tools.map((tool) => (isWhole(tool) || !isObject(tool) ? tool : completed(tool, FUNCTION_DEFAULTS)));
}

/** The object's own members first: what is added stands last. */
function completed(object: JsonObject, members: JsonObject): JsonObject {
  return { ...object, ...members, ...object };
}

function lacks(object: JsonObject, members: JsonObject): boolean {
  return Object.keys(members).some((member) => object[member] === undefined);
}

/** What says that the reply is kept, and where it goes on from. */
export function keptAs({ thread }: ChatCall): JsonObject {
  if (!thread) return {};
  const { previous, replyId } = thread;
  return { store: replyId !== undefined, previous_response_id: previous ?? null };
}

/** When it was completed, as a reply of this status says it. */
export function completedAt(call: ChatCall, status: Json | undefined, createdSeconds: Json | undefined): number | null {
  if (status !== 'completed') return null;
  return call.completedSeconds ?? (typeof createdSeconds === 'number' ? createdSeconds : 0);
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
