/** Reads a messages request: checks types and ranges, and converts blocks to parts. */
import type {
  ChatCall,
  Message,
  OutputFormat,
  Part,
  Reasoning,
  Sampling,
  Tool,
  ToolChoice,
} from '../../../canonical/call.ts';
import { isEmpty, isObject, type JsonObject } from '../../../canonical/json.ts';
import type { WireRequest } from '../../dialect.ts';
import { billable, type MoneySpelling } from '../../shared/money/money-members.ts';
import { parseBody, wrong } from '../../shared/request-body.ts';
import { knownMembers, topMembers } from '../../shared/request-shape.ts';
import { unknownMembers } from '../../shared/unknown-members.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';
import { checked } from './checked.ts';
import { cacheOf, readContent } from './read-parts.ts';
import { FunctionTool, MessagesRequest } from './request-schema.ts';
import { readEffort } from './thinking.ts';
import { clientVersion } from './version.ts';

/** Members that `Call` has a field for. Only this format can express the others. */
const DECLARED = topMembers(MessagesRequest);
const known = knownMembers(MessagesRequest);

const MONEY: MoneySpelling = {
  ceiling: ['max_tokens'],
  tier: ['service_tier', 'speed'],
  model: ['model'],
  content: new Set(['output_format', 'tool_choice']),
};

export function readCall(request: WireRequest): ChatCall {
  const headers = readHeaders(request.headers);
  const parsed = parseBody(request.body, 'The body is not JSON: send a JSON object.');
  const {
    body: spelled,
    bytes,
    dropped,
  } = isObject(parsed) ? billable(parsed, request.body, MONEY) : { body: parsed, bytes: request.body };
  const body = checked(MessagesRequest, spelled);
  const reasoning = readReasoning(body);
  const output = readOutput(body);
  const toolChoice = readToolChoice(body.tool_choice);
  const extras = readExtras(body as JsonObject);
  const serverTier = body.service_tier === 'standard_only' ? 'default' : body.service_tier;
  const call: ChatCall = {
    kind: 'chat',
    model: body.model,
    origin: { dialect: ANTHROPIC_MESSAGES, body: bytes, unsaid: () => unknownMembers(body as JsonObject, known()) },
    extras,
    headers,
    stream: body.stream ?? false,
    messages: readMessages(body),
    tools: body.tools ? body.tools.map((tool, index) => readTool(tool as JsonObject, `tools[${index}]`)) : [],
    sampling: readSampling(body),
    maxOutputTokens: body.max_tokens,
    wantsUsage: true,
  };
  if (dropped) call.origin.dropped = dropped;
  if (toolChoice) call.toolChoice = toolChoice;
  if (body.tool_choice?.disable_parallel_tool_use === true) call.parallelToolCalls = false;
  if (reasoning) call.reasoning = reasoning;
  if (output) call.output = output;
  if (body.metadata) readMetadata(call, body.metadata as JsonObject);
  if (typeof serverTier === 'string') call.serviceTier = serverTier;
  return call;
}

function readMetadata(call: ChatCall, { user_id: user, ...metadata }: JsonObject): void {
  if (typeof user === 'string') call.user = user;
  if (!isEmpty(metadata)) call.metadata = metadata;
}

function readHeaders(headers: WireRequest['headers']): { [name: string]: string } {
  const read: { [name: string]: string } = { 'anthropic-version': clientVersion(headers) };
  const beta = headers.get('anthropic-beta');
  if (beta !== null && beta !== '') read['anthropic-beta'] = beta;
  return read;
}

function readMessages(body: MessagesRequest): Message[] {
  const messages: Message[] = [];
  const system = body.system ? readContent(body.system, 'system') : [];
  if (system.length > 0) messages.push({ role: 'system', parts: system });
  for (const [index, { role, content }] of body.messages.entries()) {
    const parts = readContent(content, `messages[${index}].content`);
    if (role === 'user' && parts.some(isResult)) messages.push(...readResults(parts));
    else messages.push({ role, parts });
  }
  return messages;
}

const isResult = ({ type }: Part) => type === 'tool-result';

/** Tool results in a user turn become a tool message. They come first and together. */
function readResults(parts: Part[]): Message[] {
  const others = parts.filter((part) => !isResult(part));
  const turn: Message[] = [{ role: 'tool', parts: parts.filter(isResult) }];
  if (others.length > 0) turn.push({ role: 'user', parts: others });
  return turn;
}

function readTool(tool: JsonObject, at: string): Tool {
  const type = tool.type ?? 'custom';
  if (typeof type !== 'string') throw wrong(`${at}.type`, 'must be a string');
  if (type.startsWith('web_search')) return { type: 'web-search', dialect: ANTHROPIC_MESSAGES, options: tool };
  if (type !== 'custom') return { type: 'native', dialect: ANTHROPIC_MESSAGES, item: tool };
  const { name, description, input_schema, strict, cache_control } = checked(FunctionTool, tool, at);
  return {
    type: 'function',
    name,
    parameters: input_schema as JsonObject,
    ...(typeof description === 'string' && { description }),
    ...(typeof strict === 'boolean' && { strict }),
    ...cacheOf(cache_control),
  };
}

function readToolChoice(choice: MessagesRequest['tool_choice']): ToolChoice | undefined {
  if (!choice) return undefined;
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { type: choice.type };
    case 'any':
      return { type: 'required' };
    case 'tool':
      if (typeof choice.name !== 'string') throw wrong('tool_choice.name', 'is required: the name of a tool');
      return { type: 'tool', name: choice.name };
    default:
      throw wrong('tool_choice.type', 'must be "auto", "any", "tool" or "none"');
  }
}

function readReasoning({ thinking, output_config }: MessagesRequest): Reasoning | undefined {
  const effort = readEffort(output_config?.effort);
  const effortAlone = effort && { effort };
  if (!thinking) return effortAlone;
  const summary = thinking.display === 'omitted' ? 'none' : thinking.display === 'summarized' ? 'auto' : undefined;
  const shown = summary && { summary: summary as 'none' | 'auto' };
  switch (thinking.type) {
    case 'disabled':
      return { effort: 'none' };
    case 'enabled': {
      const budgetTokens = thinking.budget_tokens;
      if (typeof budgetTokens !== 'number') {
        throw wrong('thinking.budget_tokens', 'is required: an integer of at least 1024');
      }
      return { budgetTokens, ...effortAlone, ...shown };
    }
    default:
      return { adaptive: true, ...effortAlone, ...shown };
  }
}

function readOutput({ output_config, output_format }: MessagesRequest): OutputFormat | undefined {
  const format = output_config?.format ?? output_format;
  if (!format) return undefined;
  return { type: 'json-schema', name: 'output', schema: format.schema as JsonObject, strict: true };
}

function readSampling({ temperature, top_p: topP, top_k: topK, stop_sequences: stop }: MessagesRequest): Sampling {
  const sampling: Sampling = {};
  if (typeof temperature === 'number') sampling.temperature = temperature;
  if (typeof topP === 'number') sampling.topP = topP;
  if (typeof topK === 'number') sampling.topK = topK;
  if (stop && stop.length > 0) sampling.stop = stop;
  return sampling;
}

function readExtras(body: JsonObject): { [dialect: string]: JsonObject } {
  if (!hasUnsaid(body)) return {};
  const unknown = Object.entries(body).filter(([member]) => !DECLARED.has(member));
  return { [ANTHROPIC_MESSAGES]: Object.fromEntries(unknown) };
}

function hasUnsaid(body: JsonObject): boolean {
  for (const member in body) if (!DECLARED.has(member)) return true;
  return false;
}
