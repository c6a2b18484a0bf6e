/** What a chat or completion request asks of the sandbox, read from OpenAI's format. */
import { isObject, type Json, type JsonObject } from '../canonical/json.ts';
import { Refusal } from './refusal.ts';

/** Those that converse. */
export const SANDBOX_MODELS = ['sandbox-chat', 'sandbox-reasoner'] as const;

/** What both kinds of request have. */
export interface Asked {
  model: string;
  stream: boolean;
  includeUsage: boolean;
  choices: number;
  stops: string[];
  maxTokens: number;
  /** Names the reply: the same request has the same one. */
  key: string;
}

export interface ChatAsked extends Asked {
  messages: JsonObject[];
  /** Place of the last user message; -1 where there is none. */
  lastUser: number;
  tools: AskedTool[];
  choice: AskedChoice;
  parallel: boolean;
  output: { schema: Json } | undefined;
  effort: string;
  logprobs: boolean;
}

export interface AskedTool {
  custom: boolean;
  name: string;
  description: string;
  parameters: Json;
}

/** `names` are the tools that may be called; `force`: one of them must be. */
export interface AskedChoice {
  names: readonly string[];
  force: boolean;
}

export interface CompletionAsked extends Asked {
  prompts: string[];
  suffix: string;
  echo: boolean;
  logprobs: boolean;
}

const MAX_CHOICES = 128;

export function readChat(body: JsonObject): ChatAsked {
  const messages = body.messages;
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isObject)) {
    throw new Refusal(400, '`messages` must be an array with at least one message.', 'messages');
  }
  if (Array.isArray(body.modalities) && body.modalities.includes('audio')) {
    throw new Refusal(400, 'The sandbox answers in text: `modalities` may name `text` alone.', 'modalities');
  }
  const tools = (Array.isArray(body.tools) ? body.tools : []).filter(isObject).map(readTool);
  return {
    ...readAsked(body, body.max_completion_tokens ?? body.max_tokens),
    messages,
    lastUser: messages.findLastIndex((message) => message.role === 'user'),
    tools,
    choice: readChoice(body.tool_choice, tools),
    parallel: body.parallel_tool_calls !== false,
    output: readOutput(body.response_format),
    effort: typeof body.reasoning_effort === 'string' ? body.reasoning_effort : 'medium',
    logprobs: body.logprobs === true,
  };
}

export function readCompletion(body: JsonObject): CompletionAsked {
  return {
    ...readAsked(body, body.max_tokens),
    prompts: readPrompts(body.prompt),
    suffix: typeof body.suffix === 'string' ? body.suffix : '',
    echo: body.echo === true,
    logprobs: typeof body.logprobs === 'number',
  };
}

function readAsked(body: JsonObject, maxTokens: Json | undefined): Asked {
  const { model, stream_options: options } = body;
  if (typeof model !== 'string') throw new Refusal(400, '`model` must be the name of a model.', 'model');
  if (!SANDBOX_MODELS.some((name) => name === model)) {
    throw new Refusal(404, `The model \`${model}\` does not exist.`, 'model', 'model_not_found');
  }
  return {
    model,
    stream: body.stream === true,
    includeUsage: isObject(options) && options.include_usage === true,
    choices: readCount(body, 'n', MAX_CHOICES) ?? 1,
    stops: (Array.isArray(body.stop) ? body.stop : [body.stop]).filter(
      (stop) => typeof stop === 'string' && stop !== '',
    ) as string[],
    maxTokens: typeof maxTokens === 'number' ? maxTokens : Number.POSITIVE_INFINITY,
    key: keyOf(body),
  };
}

function readCount(body: JsonObject, member: string, most: number): number | undefined {
  const value = body[member];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > most) {
    throw new Refusal(400, `\`${member}\` must be an integer from 1 to ${most}.`, member);
  }
  return value;
}

function readTool(tool: JsonObject): AskedTool {
  const custom = tool.type === 'custom';
  const said = custom ? tool.custom : tool.function;
  if (!isObject(said) || typeof said.name !== 'string') throw new Refusal(400, 'A tool must have a `name`.', 'tools');
  return {
    custom,
    name: said.name,
    description: typeof said.description === 'string' ? said.description : '',
    parameters: said.parameters ?? { type: 'object', properties: {} },
  };
}

function readChoice(choice: Json | undefined, tools: readonly AskedTool[]): AskedChoice {
  const names = tools.map((tool) => tool.name);
  if (choice === 'none') return { names: [], force: false };
  if (choice === 'required') return { names, force: true };
  if (!isObject(choice)) return { names, force: false };
  if (choice.type === 'allowed_tools' && isObject(choice.allowed_tools)) {
    const { mode, tools: allowed } = choice.allowed_tools;
    const named = Array.isArray(allowed) ? allowed.filter(isObject).map(nameIn) : [];
    return { names: names.filter((name) => named.includes(name)), force: mode === 'required' };
  }
  const name = nameIn(choice);
  if (!names.includes(name))
    throw new Refusal(400, `\`tool_choice\` names the tool \`${name}\`, which is not among \`tools\`.`, 'tool_choice');
  return { names: [name], force: true };
}

function nameIn(choice: JsonObject): string {
  const said = isObject(choice.function) ? choice.function : isObject(choice.custom) ? choice.custom : choice;
  return String(said.name);
}

function readOutput(format: Json | undefined): ChatAsked['output'] {
  if (!isObject(format) || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { schema: { type: 'object', properties: { sandbox: { const: true } } } };
  if (format.type === 'json_schema' && isObject(format.json_schema))
    return { schema: format.json_schema.schema ?? true };
  throw new Refusal(400, '`response_format.type` must be `text`, `json_object` or `json_schema`.', 'response_format');
}

function readPrompts(prompt: Json | undefined): string[] {
  if (typeof prompt === 'string') return [prompt];
  if (!Array.isArray(prompt) || prompt.length === 0) throw new Refusal(400, '`prompt` is required.', 'prompt');
  if (typeof prompt[0] === 'number') return [describeTokens(prompt)];
  return prompt.map((item) => (typeof item === 'string' ? item : describeTokens(item)));
}

/** Token ids mean nothing to the sandbox, and it says so. */
function describeTokens(tokens: Json): string {
  return `(${Array.isArray(tokens) ? tokens.length : 0} token ids)`;
}

/** A stream and a whole reply to the same request are the same answer. */
export function keyOf({ stream, stream_options, ...body }: JsonObject): string {
  const text = JSON.stringify(body);
  return (Bun.hash(text, 1).toString(36) + Bun.hash(text, 2).toString(36)).padEnd(24, '0').slice(0, 24);
}
