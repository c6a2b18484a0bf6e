/** Reads a Responses request. */
import type {
  ChatCall,
  Message,
  OutputFormat,
  Reasoning,
  Sampling,
  Tool,
  ToolChoice,
} from '../../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { WireRequest } from '../../dialect.ts';
import { objectAt, stringAt } from '../../shared/json-values.ts';
import { billable, type MoneySpelling } from '../../shared/money/money-members.ts';
import { wrong } from '../../shared/request-body.ts';
import { knownMembers, topMembers } from '../../shared/request-shape.ts';
import { unknownMembers } from '../../shared/unknown-members.ts';
import { OPENAI_RESPONSES } from '../names.ts';
import { isEffort } from '../request/reasoning-effort.ts';
import { jsonSchemaOutput } from '../request/structured-output.ts';
import { topMemberCheck } from '../request/top-members.ts';
import { nameWithGroup, type PlacedTool, ungroupedTools } from './namespaces.ts';
import { readInput } from './read-items.ts';
import { ResponsesRequest } from './request-schema.ts';

/** Marks the system message that came from `instructions`. */
export const INSTRUCTIONS = 'instructions';
export const INCLUDE_LOGPROBS = 'message.output_text.logprobs';
const WEB_SEARCH = /^web_search(_preview)?(_\d{4}_\d\d_\d\d)?$/;

const readMembers = topMemberCheck(ResponsesRequest, ['model'], deepest);
/** All other members are extras. */
const DECLARED = topMembers(ResponsesRequest);
const known = knownMembers(ResponsesRequest);

const MONEY: MoneySpelling = {
  ceiling: ['max_output_tokens'],
  tier: ['service_tier'],
  model: ['model'],
  content: new Set(['text', 'prompt']),
};

/** Throws `invalid_request` that names the wrong member. */
export function readCall(request: WireRequest): ChatCall {
  const { body, bytes, dropped } = billable(readMembers(request.body), request.body, MONEY);
  const extras = readExtras(body);
  const toolChoice = readToolChoice(body.tool_choice);
  const reasoning = readReasoning(objectAt(body, 'reasoning') ?? {});
  const text = objectAt(body, 'text') ?? {};
  const output = readOutput(text.format);
  const user = stringAt(body, 'user') ?? stringAt(body, 'safety_identifier');
  const { messages, items, references, compacted } = readInput(body.input);
  const call: ChatCall = {
    kind: 'chat',
    model: String(body.model),
    origin: {
      dialect: OPENAI_RESPONSES,
      body: bytes,
      unsaid: () => unknownMembers(body, known()),
      ...(dropped && { dropped }),
    },
    extras: Object.keys(extras).length > 0 ? { [OPENAI_RESPONSES]: extras } : {},
    headers: {},
    stream: body.stream === true,
    messages: withInstructions(messages, body),
    tools: ungroupedTools(body).map(readTool),
    sampling: readSampling(body),
    wantsUsage: true,
  };
  if (toolChoice) call.toolChoice = toolChoice;
  if (typeof body.parallel_tool_calls === 'boolean') call.parallelToolCalls = body.parallel_tool_calls;
  if (typeof body.max_output_tokens === 'number') call.maxOutputTokens = body.max_output_tokens;
  if (reasoning) call.reasoning = reasoning;
  if (output) call.output = output;
  if (user !== undefined) call.user = user;
  if (typeof body.prompt_cache_key === 'string') call.cacheKey = body.prompt_cache_key;
  if (typeof body.service_tier === 'string') call.serviceTier = body.service_tier;
  const { verbosity } = text;
  if (verbosity === 'low' || verbosity === 'medium' || verbosity === 'high') call.verbosity = verbosity;
  if (isObject(body.metadata)) call.metadata = body.metadata;
  call.thread = {
    store: body.store !== false,
    references,
    truncation: body.truncation === 'auto' ? 'auto' : 'disabled',
    items,
  };
  if (compacted !== undefined) call.thread.compacted = compacted;
  if (typeof body.previous_response_id === 'string') call.thread.previous = body.previous_response_id;
  requireInput(body);
  return call;
}

/** Members that may replace the input. */
const OTHER_INPUTS = ['previous_response_id', 'conversation', 'prompt'];

function requireInput({ input, ...others }: JsonObject): void {
  if (input == null && OTHER_INPUTS.every((name) => others[name] == null)) throw wrong('input', 'is missing');
}

function withInstructions(messages: Message[], body: JsonObject): Message[] {
  const instructions = stringAt(body, 'instructions');
  if (instructions === undefined) return messages;
  return [{ role: 'system', originRole: INSTRUCTIONS, parts: [{ type: 'text', text: instructions }] }, ...messages];
}

function readExtras(body: JsonObject): JsonObject {
  const extras: JsonObject = {};
  for (const member in body) {
    const value = body[member];
    if (value !== undefined && value !== null && !DECLARED.has(member)) extras[member] = value;
  }
  const { effort, summary: _, ...thinking } = objectAt(body, 'reasoning') ?? {};
  // A value that only this model's provider knows.
  if (typeof effort === 'string' && !isEffort(effort)) thinking.effort = effort;
  if (Object.keys(thinking).length > 0) extras.reasoning = thinking;
  const { format, verbosity, ...text } = objectAt(body, 'text') ?? {};
  if (isObject(format) && format.type !== 'text' && !readOutput(format)) text.format = format;
  if (Object.keys(text).length > 0) extras.text = text;
  return extras;
}

function readSampling(body: JsonObject): Sampling {
  const sampling: Sampling = {};
  if (typeof body.temperature === 'number') sampling.temperature = body.temperature;
  if (typeof body.top_p === 'number') sampling.topP = body.top_p;
  if (typeof body.top_logprobs === 'number') sampling.topLogprobs = body.top_logprobs;
  if (Array.isArray(body.include) && body.include.includes(INCLUDE_LOGPROBS)) sampling.logprobs = true;
  return sampling;
}

function readTool({ tool, path, group }: PlacedTool): Tool {
  if (!isObject(tool) || typeof tool.type !== 'string') throw wrong(path, 'must be an object with a `type`');
  const { type, name, description, parameters, strict, format } = tool;
  if (WEB_SEARCH.test(type)) {
    const { type: _, ...options } = tool;
    return { type: 'web-search', options: type === 'web_search' ? options : tool, dialect: OPENAI_RESPONSES };
  }
  if (type !== 'function' && type !== 'custom') return { type: 'native', dialect: OPENAI_RESPONSES, item: tool };
  if (typeof name !== 'string' || name === '') throw wrong(`${path}.name`, 'must be a non-empty string');
  if (!isOpen(parameters) && !isObject(parameters)) {
    throw wrong(`${path}.parameters`, 'must be a JSON schema, which is an object');
  }
  if (!isOpen(description) && typeof description !== 'string') throw wrong(`${path}.description`, 'must be a string');
  const named = {
    name: nameWithGroup(group?.name, name),
    ...(typeof description === 'string' && { description }),
    ...(group && { group }),
  };
  if (type === 'custom') return { type, ...named, ...(isObject(format) && { format }) };
  // Unlike in other formats, functions are strict by default.
  const isStrict = typeof strict === 'boolean' ? strict : true;
  return { type, ...named, ...(isObject(parameters) && { parameters }), strict: isStrict };
}

function isOpen(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function readToolChoice(choice: Json | undefined): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  if (!isObject(choice))
    throw wrong('tool_choice', 'must be `auto`, `none`, `required`, or an object that names a tool');
  const { type, name, mode, tools } = choice;
  if ((type === 'function' || type === 'custom') && typeof name === 'string') return { type: 'tool', name };
  if (type === 'allowed_tools' && Array.isArray(tools)) {
    const names = tools.flatMap((tool) => (isObject(tool) && typeof tool.name === 'string' ? tool.name : []));
    const isPlain = names.length === tools.length;
    if (isPlain) return { type: 'allowed', mode: mode === 'required' ? 'required' : 'auto', names };
  }
  return { type: 'native', dialect: OPENAI_RESPONSES, item: choice };
}

function readOutput(format: Json | undefined): OutputFormat | undefined {
  if (!isObject(format)) return undefined;
  if (format.type === 'json_object') return { type: 'json' };
  if (format.type !== 'json_schema') return undefined;
  const { schema } = format;
  if (!isObject(schema)) throw wrong('text.format.schema', 'must be a JSON schema, which is an object');
  return jsonSchemaOutput(format, schema);
}

function readReasoning({ effort, summary }: JsonObject): Reasoning | undefined {
  const reasoning: Reasoning = {};
  if (isEffort(effort)) reasoning.effort = effort;
  if (summary === 'auto' || summary === 'concise' || summary === 'detailed' || summary === 'none') {
    reasoning.summary = summary;
  }
  return Object.keys(reasoning).length > 0 ? reasoning : undefined;
}

/** Of the errors in a union, the deepest is the most specific. */
function deepest([first, ...others]: string[][]): string[] | undefined {
  let found = first;
  for (const other of others) if (other[0] === found?.[0] && other.length > (found?.length ?? 0)) found = other;
  return found;
}
