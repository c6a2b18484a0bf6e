/** The response object without its output: all members that the libraries read, including the client's settings. */
import type { ChatCall } from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { Finish } from '../../../canonical/reply.ts';
import { pickMembers } from '../../wire/json.ts';
import { OPENAI_RESPONSES } from '../names.ts';

const DEFAULT_TEXT = { format: { type: 'text' } };
const NO_REASONING: JsonObject = { effort: null, summary: null };
/** Defaults of functions and output schemas. The gateway does not make them strict on its own. */
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

/** The client's settings as the reply repeats them, completed with the members that strict readers require. */
export function echoedSettings(call: ChatCall): JsonObject {
  const echoed = call.origin.dialect === OPENAI_RESPONSES ? pickMembers(call.origin.body, ECHOED) : {};
  const settings = { ...DEFAULTS };
  for (const [member, value] of Object.entries(echoed)) if (value !== null) settings[member] = value;
  settings.reasoning = { ...NO_REASONING, ...(isObject(settings.reasoning) && settings.reasoning) };
  settings.text = wholeText(settings.text ?? null);
  settings.tools = wholeTools(settings.tools ?? null);
  return { ...settings, ...keptAs(call) };
}

/** Text settings with all members of the output format. */
export function wholeText(text: Json): Json {
  if (!isObject(text)) return DEFAULT_TEXT;
  const { format } = text;
  if (!isObject(format)) return { ...DEFAULT_TEXT, ...text, format: DEFAULT_TEXT.format };
  return format.type === 'json_schema' && lacks(format, SCHEMA_DEFAULTS)
    ? { ...text, format: completed(format, SCHEMA_DEFAULTS) }
    : text;
}

/** Tools with all members of a function. */
export function wholeTools(tools: Json): Json {
  if (!Array.isArray(tools)) return [];
  const isWhole = (tool: Json) => !isObject(tool) || tool.type !== 'function' || !lacks(tool, FUNCTION_DEFAULTS);
  if (tools.every(isWhole)) return tools;
  return tools.map((tool) => (isWhole(tool) || !isObject(tool) ? tool : completed(tool, FUNCTION_DEFAULTS)));
}

/** The object's own members come first. */
function completed(object: JsonObject, members: JsonObject): JsonObject {
  return { ...object, ...members, ...object };
}

function lacks(object: JsonObject, members: JsonObject): boolean {
  return Object.keys(members).some((member) => object[member] === undefined);
}

/** Members that say whether the reply is stored, and which one it continues. */
export function keptAs({ thread }: ChatCall): JsonObject {
  if (!thread) return {};
  const { previous, replyId } = thread;
  return { store: replyId !== undefined, previous_response_id: previous ?? null };
}

/** The completion time, if a reply of this status has one. */
export function completedAt(call: ChatCall, status: Json | undefined, createdSeconds: Json | undefined): number | null {
  if (status !== 'completed') return null;
  return call.completedSeconds ?? (typeof createdSeconds === 'number' ? createdSeconds : 0);
}

/** The finish reason as members of the response object. */
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
