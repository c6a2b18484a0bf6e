/** A text completion request as a call: types and ranges are checked, prompts brought into one form. */
import type { ChatCall, Completion, Sampling } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { WireRequest } from '../dialect.ts';
import { billable, type MoneySpelling } from '../money-members.ts';
import { parseBody, wrong } from '../request-body.ts';
import { OPENAI_COMPLETIONS } from './name.ts';

/** Members that a call has a word for; the others only this format can say. */
const KNOWN = new Set([
  'best_of',
  'echo',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'max_tokens',
  'model',
  'n',
  'presence_penalty',
  'prompt',
  'seed',
  'stop',
  'stream',
  'stream_options',
  'suffix',
  'temperature',
  'top_p',
  'user',
]);

const MONEY: MoneySpelling = {
  ceiling: ['max_tokens'],
  choices: ['n'],
  tries: ['best_of'],
  tier: ['service_tier'],
  model: ['model'],
  content: new Set(['response_format']),
};

const _decoder = new TextDecoder('utf-8', { fatal: true });

export function readCall(request: WireRequest): ChatCall {
  const { body, bytes, dropped } = billable(readBody(request.body), request.body, MONEY);
  const model = body.model;
  if (typeof model !== 'string' || model === '') throw wrong('model', 'must be the name of a model');
  const prompts = readPrompts(body.prompt);
  const streamOptions = body.stream_options ?? {};
  if (!isObject(streamOptions)) throw wrong('stream_options', 'must be an object');
  const sampling = readSampling(body);
  const maxOutputTokens = integerOf(body, 'max_tokens', 0);
  const user = stringOf(body, 'user');
  const first = prompts[0];
  return {
    kind: 'chat',
    model,
    origin: { dialect: OPENAI_COMPLETIONS, body: bytes, ...(dropped && { dropped }) },
    extras: readExtras(body),
    headers: {},
    stream: booleanOf(body, 'stream') ?? false,
    messages: typeof first === 'string' ? [{ role: 'user', parts: [{ type: 'text', text: first }] }] : [],
    tools: [],
    sampling,
    wantsUsage: streamOptions.include_usage === true,
    completion: readCompletion(body, prompts, sampling.n ?? 1),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(user !== undefined && { user }),
  };
}

function readBody(bytes: Uint8Array): JsonObject {
  const body = parseBody(bytes, 'The body is not JSON: send a JSON object.');
  if (!isObject(body)) throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  return body;
}

function readPrompts(prompt: Json | undefined): (string | number[])[] {
  if (typeof prompt === 'string') return [prompt];
  if (Array.isArray(prompt) && prompt.length > 0) {
    if (isTokens(prompt)) return [prompt];
    if (prompt.every((item): item is string => typeof item === 'string')) return prompt;
    if (prompt.every((item): item is number[] => isTokens(item))) return prompt;
  }
  throw wrong(
    'prompt',
    'is required: a string, an array of strings, an array of token ids, or an array of such arrays',
  );
}

function isTokens(value: Json): value is number[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((token) => Number.isSafeInteger(token) && Number(token) >= 0)
  );
}

function readCompletion(body: JsonObject, prompts: (string | number[])[], n: number): Completion {
  const suffix = stringOf(body, 'suffix');
  const bestOf = integerOf(body, 'best_of', 1);
  const logprobs = integerOf(body, 'logprobs', 0);
  if (bestOf !== undefined && bestOf < n) throw wrong('best_of', 'must be at least `n`');
  return {
    prompts,
    echo: booleanOf(body, 'echo') ?? false,
    ...(suffix !== undefined && { suffix }),
    ...(bestOf !== undefined && { bestOf }),
    ...(logprobs !== undefined && { logprobs }),
  };
}

function readSampling(body: JsonObject): Sampling {
  const sampling: { [name: string]: unknown } = {
    temperature: numberOf(body, 'temperature', 0, 2),
    topP: numberOf(body, 'top_p', 0, 1),
    presencePenalty: numberOf(body, 'presence_penalty', -2, 2),
    frequencyPenalty: numberOf(body, 'frequency_penalty', -2, 2),
    seed: integerOf(body, 'seed', Number.MIN_SAFE_INTEGER),
    n: integerOf(body, 'n', 1),
    stop: readStop(body.stop),
    logitBias: readLogitBias(body.logit_bias),
  };
  for (const name of Object.keys(sampling)) if (sampling[name] === undefined) delete sampling[name];
  return sampling;
}

function readStop(stop: Json | undefined): string[] | undefined {
  if (stop === undefined || stop === null) return undefined;
  const stops = Array.isArray(stop) ? stop : [stop];
  if (!stops.every((item): item is string => typeof item === 'string')) {
    throw wrong('stop', 'must be a string or an array of strings');
  }
  return stops.length > 0 ? stops : undefined;
}

function readLogitBias(bias: Json | undefined): { [token: string]: number } | undefined {
  if (bias === undefined || bias === null) return undefined;
  if (!isObject(bias) || !Object.values(bias).every((value) => typeof value === 'number')) {
    throw wrong('logit_bias', 'must be an object of numbers');
  }
  return bias as { [token: string]: number };
}

function readExtras(body: JsonObject): { [dialect: string]: JsonObject } {
  const unknown = Object.entries(body).filter(([member]) => !KNOWN.has(member));
  return unknown.length > 0 ? { [OPENAI_COMPLETIONS]: Object.fromEntries(unknown) } : {};
}

function numberOf(body: JsonObject, member: string, min: number, max: number): number | undefined {
  const value = body[member];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || value < min || value > max) {
    throw wrong(member, `must be a number from ${min} to ${max}`);
  }
  return value;
}

function integerOf(body: JsonObject, member: string, min: number): number | undefined {
  const value = body[member];
  if (value === undefined || value === null) return undefined;
  if (!Number.isSafeInteger(value) || Number(value) < min) {
    throw wrong(
      member,
      min === Number.MIN_SAFE_INTEGER ? 'must be an integer' : `must be an integer of at least ${min}`,
    );
  }
  return Number(value);
}

function stringOf(body: JsonObject, member: string): string | undefined {
  const value = body[member];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw wrong(member, 'must be a string');
  return value;
}

function booleanOf(body: JsonObject, member: string): boolean | undefined {
  const value = body[member];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw wrong(member, 'must be true or false');
  return value;
}
