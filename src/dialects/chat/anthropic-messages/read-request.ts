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
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
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
const SAID = topMembers(MessagesRequest);
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
  const { user_id: user, ...metadata } = (body.metadata ?? {}) as { user_id?: string | null } & JsonObject;
  const serverTier = body.service_tier === 'standard_only' ? 'default' : body.service_tier;
  return {
    kind: 'chat',
    model: body.model,
    origin: {
      dialect: ANTHROPIC_MESSAGES,
      body: bytes,
      unsaid: () => unknownMembers(body as JsonObject, known()),
      ...(dropped && { dropped }),
    },
    extras,
    headers,
    stream: body.stream ?? false,
    messages: readMessages(body),
    tools: (body.tools ?? []).map((tool, index) => readTool(tool as JsonObject, `tools[${index}]`)),
    sampling: readSampling(body),
    maxOutputTokens: body.max_tokens,
    wantsUsage: true,
    ...(toolChoice && { toolChoice }),
    ...(body.tool_choice?.disable_parallel_tool_use === true && { parallelToolCalls: false }),
    ...(reasoning && { reasoning }),
    ...(output && { output }),
    ...(typeof user === 'string' && { user }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(typeof serverTier === 'string' && { serviceTier: serverTier }),
  };
}

function readHeaders(headers: WireRequest['headers']): { [name: string]: string } {
  const version = clientVersion(headers);
  const beta = headers.get('anthropic-beta');
  return { 'anthropic-version': version, ...(beta !== null && beta !== '' && { 'anthropic-beta': beta }) };
}

function readMessages(body: MessagesRequest): Message[] {
  const messages: Message[] = [];
  const system = body.system ? readContent(body.system, 'system') : [];
  if (system.length > 0) messages.push({ role: 'system', parts: system });
  for (const [index, { role, content }] of body.messages.entries()) {
    const parts = readContent(content, `messages[${index}].content`);
    if (role === 'user') messages.push(...readUserTurn(parts));
    else messages.push({ role, parts });
  }
  return messages;
}

/** Tool results in a user turn become a tool message. They come first and together. */
function readUserTurn(parts: Part[]): Message[] {
  const results = parts.filter((part) => part.type === 'tool-result');
  if (results.length === 0) return [{ role: 'user', parts }];
  const others = parts.filter((part) => part.type !== 'tool-result');
  const turn: Message[] = [{ role: 'tool', parts: results }];
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

function readSampling({ temperature, top_p, top_k, stop_sequences }: MessagesRequest): Sampling {
  return {
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof top_p === 'number' && { topP: top_p }),
    ...(typeof top_k === 'number' && { topK: top_k }),
    ...(stop_sequences && stop_sequences.length > 0 && { stop: stop_sequences }),
  };
}

function readExtras(body: JsonObject): { [dialect: string]: JsonObject } {
  const unknown = Object.entries(body).filter((entry): entry is [string, Json] => !SAID.has(entry[0]));
  return unknown.length > 0 ? { [ANTHROPIC_MESSAGES]: Object.fromEntries(unknown) } : {};
}
