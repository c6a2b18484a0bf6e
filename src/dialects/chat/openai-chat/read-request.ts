/** Reads a chat completion request. */
import type { ChatCall, Message, Modality, OutputFormat, Reasoning, Sampling, Tool } from '../../../canonical/call.ts';
import { isEmpty, isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { WireRequest } from '../../dialect.ts';
import { objectAt, stringAt } from '../../shared/json-values.ts';
import { billable, type MoneySpelling } from '../../shared/money/money-members.ts';
import { parseMembers, wrong } from '../../shared/request-body.ts';
import { knownMembers, topMembers } from '../../shared/request-shape.ts';
import { unknownMembers } from '../../shared/unknown-members.ts';
import { OPENAI_CHAT } from '../names.ts';
import { isEffort } from '../request/reasoning-effort.ts';
import { jsonSchemaOutput } from '../request/structured-output.ts';
import { topMemberCheck } from '../request/top-members.ts';
import { contentsNotIn, otherImageMembers, readImageSettings } from './read-image-request.ts';
import { plainTurns, readMessages } from './read-messages.ts';
import { ChatRequest } from './request-schema.ts';
import { readToolChoice, readTools } from './tools.ts';

const readMembers = topMemberCheck(ChatRequest, ['model', 'messages'], ([first]) => first);
/** All other members are extras. */
const DECLARED = topMembers(ChatRequest);
const known = knownMembers(ChatRequest);

const MONEY: MoneySpelling = {
  ceiling: ['max_tokens', 'max_completion_tokens'],
  choices: ['n'],
  tier: ['service_tier'],
  model: ['model'],
  content: new Set(['response_format', 'prediction']),
};

/** Shared by the calls that have none. */
const NO_MEMBERS = {};
const NO_TOOLS: readonly Tool[] = [];

/** Throws `invalid_request` that names the wrong member. */
export function readCall({ body }: WireRequest): ChatCall {
  const members = parseMembers(body);
  return readPlain(members, body) ?? readFully(members, body);
}

/** What of the request the gateway does not know. Apart, because a closure in a reader keeps all that the reader names. */
const unsaidIn = (members: JsonObject) => () => unknownMembers(members, known());

/**
 * A request of texts alone with the members that most requests have, which no schema has to check. `undefined`: `readFully` has to decide.
 * Where it answers, `readFully` reads the same (`read-request.test.ts`).
 */
export function readPlain(members: JsonObject, bytes: Uint8Array): ChatCall | undefined {
  const sampling: Sampling = {};
  let model: Json | undefined;
  let messages: Message[] | undefined;
  let ceiling: number | undefined;
  let stream = false;
  for (const name in members) {
    const value = members[name];
    switch (name) {
      case 'model':
        model = value;
        break;
      case 'messages':
        messages = Array.isArray(value) && value.length > 0 ? plainTurns(value) : undefined;
        break;
      case 'stream':
        if (typeof value !== 'boolean') return undefined;
        stream = value;
        break;
      case 'max_tokens':
      case 'max_completion_tokens':
        if (ceiling !== undefined || typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1)
          return undefined;
        ceiling = value;
        break;
      case 'temperature':
        if (typeof value !== 'number' || value < 0 || value > 2) return undefined;
        sampling.temperature = value;
        break;
      case 'top_p':
        if (typeof value !== 'number' || value < 0 || value > 1) return undefined;
        sampling.topP = value;
        break;
      default:
        return undefined;
    }
  }
  if (typeof model !== 'string' || model === '' || !messages) return undefined;
  const call: ChatCall = {
    kind: 'chat',
    model,
    origin: { dialect: OPENAI_CHAT, body: bytes, unsaid: unsaidIn(members), plainTurns: messages },
    extras: NO_MEMBERS,
    headers: NO_MEMBERS,
    stream,
    messages,
    tools: NO_TOOLS,
    sampling,
    wantsUsage: false,
  };
  if (ceiling !== undefined) call.maxOutputTokens = ceiling;
  return call;
}

export function readFully(members: JsonObject, whole: Uint8Array): ChatCall {
  const { body, bytes, dropped } = billable(readMembers(whole, members), whole, MONEY);
  const extras = readExtras(body);
  const streamOptions = objectAt(body, 'stream_options');
  const toolChoice = readToolChoice(body);
  const reasoning = readReasoning(body);
  const output = readOutput(body.response_format);
  const ceiling = numberIn(body.max_completion_tokens) ?? numberIn(body.max_tokens);
  const audio = objectAt(body, 'audio');
  const user = stringAt(body, 'user') ?? stringAt(body, 'safety_identifier');
  const listed = Array.isArray(body.messages) ? body.messages : [];
  const plain = body.contents === undefined ? plainTurns(listed) : undefined;
  const call: ChatCall = {
    kind: 'chat',
    model: String(body.model),
    origin: {
      dialect: OPENAI_CHAT,
      body: bytes,
      unsaid: unsaidIn(body),
      ...(dropped && { dropped }),
    },
    extras: isEmpty(extras) ? {} : { [OPENAI_CHAT]: extras },
    headers: {},
    stream: body.stream === true,
    messages: plain ?? readConversation(body, listed),
    tools: readTools(body),
    sampling: readSampling(body),
    wantsUsage: streamOptions?.include_usage === true,
  };
  if (plain) call.origin.plainTurns = plain;
  if (toolChoice) call.toolChoice = toolChoice;
  if (typeof body.parallel_tool_calls === 'boolean') call.parallelToolCalls = body.parallel_tool_calls;
  if (ceiling !== undefined) call.maxOutputTokens = ceiling;
  if (reasoning) call.reasoning = reasoning;
  if (output) call.output = output;
  if (Array.isArray(body.modalities)) call.modalities = body.modalities.filter(isModality);
  if (audio) call.audio = readAudio(audio);
  const image = readImageSettings(body);
  if (image) call.image = image;
  if (user !== undefined) call.user = user;
  setText(call, 'cacheKey', body.prompt_cache_key);
  setText(call, 'serviceTier', body.service_tier);
  if (isVerbosity(body.verbosity)) call.verbosity = body.verbosity;
  if (isObject(body.metadata)) call.metadata = body.metadata;
  return call;
}

function readConversation({ contents }: JsonObject, listed: readonly Json[]): Message[] {
  const messages = readMessages(listed);
  return contents === undefined ? messages : [...messages, ...contentsNotIn(contents, messages)];
}

function setText(call: ChatCall, member: 'cacheKey' | 'serviceTier', value: Json | undefined): void {
  if (typeof value === 'string') call[member] = value;
}

function readExtras(body: JsonObject): JsonObject {
  const extras: JsonObject = {};
  for (const member in body) {
    const value = body[member];
    if (value !== undefined && !DECLARED.has(member)) extras[member] = value;
  }
  const { stream_options: options, response_format: format, audio } = body;
  const { reasoning_effort: effort, verbosity } = body;
  if (typeof effort === 'string' && !isEffort(effort)) extras.reasoning_effort = effort;
  if (typeof verbosity === 'string' && !isVerbosity(verbosity)) extras.verbosity = verbosity;
  if (body.extra_body !== undefined || body.google !== undefined) Object.assign(extras, otherImageMembers(body));
  if (isObject(options)) {
    const { include_usage: _, ...others } = options;
    if (!isEmpty(others)) extras.stream_options = others;
  }
  if (isObject(format) && format.type !== 'text' && !readOutput(format)) extras.response_format = format;
  // `Call` has no field for a voice that is an object (a custom voice of the account).
  if (isObject(audio) && typeof audio.voice !== 'string') extras.audio = audio;
  return extras;
}

function readSampling(body: JsonObject): Sampling {
  const sampling: Sampling = {};
  setNumber(sampling, 'temperature', body.temperature);
  setNumber(sampling, 'topP', body.top_p);
  setNumber(sampling, 'topK', body.top_k);
  setNumber(sampling, 'presencePenalty', body.presence_penalty);
  setNumber(sampling, 'frequencyPenalty', body.frequency_penalty);
  setNumber(sampling, 'seed', body.seed);
  setNumber(sampling, 'n', body.n);
  setNumber(sampling, 'topLogprobs', body.top_logprobs);
  const { stop, logit_bias: bias } = body;
  if (typeof stop === 'string') sampling.stop = [stop];
  else if (Array.isArray(stop) && stop.length > 0) sampling.stop = stop.map(String);
  if (isObject(bias)) sampling.logitBias = bias as { [token: string]: number };
  if (typeof body.logprobs === 'boolean') sampling.logprobs = body.logprobs;
  return sampling;
}

type SamplingNumber = { [name in keyof Sampling]-?: number extends Sampling[name] ? name : never }[keyof Sampling];

function setNumber(sampling: Sampling, name: SamplingNumber, value: Json | undefined): void {
  if (typeof value === 'number') sampling[name] = value;
}

function readOutput(format: Json | undefined): OutputFormat | undefined {
  if (!isObject(format)) return undefined;
  if (format.type === 'json_object') return { type: 'json' };
  if (format.type !== 'json_schema') return undefined;
  const asked = format.json_schema;
  if (!isObject(asked)) throw wrong('response_format.json_schema', 'must be an object with `name` and `schema`');
  const { schema } = asked;
  if (schema !== undefined && !isObject(schema))
    throw wrong('response_format.json_schema.schema', 'must be a JSON schema, which is an object');
  return jsonSchemaOutput(asked, schema ?? {});
}

/**
 * The reasoning effort, from `reasoning_effort` or from the members of OpenRouter (`reasoning`), DeepSeek and z.ai
 * (`thinking`), Qwen (`enable_thinking`).
 */
export function readReasoning(body: JsonObject): Reasoning | undefined {
  if (!hasReasoningMember(body)) return undefined;
  const router = objectAt(body, 'reasoning');
  const thinking = objectAt(body, 'thinking');
  const isOff = thinking?.type === 'disabled' || body.enable_thinking === false || router?.enabled === false;
  const word = body.reasoning_effort ?? router?.effort ?? (isOff ? 'none' : undefined);
  const budget = numberIn(router?.max_tokens) ?? numberIn(thinking?.budget_tokens) ?? numberIn(body.thinking_budget);
  const reasoning: Reasoning = {};
  if (isEffort(word)) reasoning.effort = word;
  if (budget !== undefined) reasoning.budgetTokens = budget;
  if (thinking?.type === 'adaptive') reasoning.adaptive = true;
  const summary = router?.summary;
  if (router?.exclude === true) reasoning.summary = 'none';
  else if (summary === 'auto' || summary === 'concise' || summary === 'detailed') reasoning.summary = summary;
  return isEmpty(reasoning) ? undefined : reasoning;
}

function hasReasoningMember(body: JsonObject): boolean {
  const { reasoning_effort: effort, reasoning, thinking, thinking_budget: budget, enable_thinking: isOn } = body;
  return (effort ?? reasoning ?? thinking ?? budget ?? isOn ?? null) !== null;
}

function isVerbosity(word: Json | undefined): word is NonNullable<ChatCall['verbosity']> {
  return word === 'low' || word === 'medium' || word === 'high';
}

function readAudio(audio: JsonObject): NonNullable<ChatCall['audio']> {
  return { voice: stringAt(audio, 'voice') ?? '', format: stringAt(audio, 'format') ?? 'wav' };
}

function isModality(value: Json): value is Modality {
  return value === 'text' || value === 'audio' || value === 'image';
}

function numberIn(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
