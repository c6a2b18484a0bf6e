/**
 * Translates member names in warnings and errors: internal sentences use OpenAI's names, the caller sees the names of
 * its own format.
 */
import type { TSchema } from 'typebox';
import { entryOf } from '../../canonical/entry-of.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { MessagesRequest } from '../chat/anthropic-messages/request-schema.ts';
import { GenerateRequest } from '../chat/gemini/request-schema.ts';
import { ChatRequest } from '../chat/openai-chat/request-schema.ts';
import { CompletionRequest } from '../chat/openai-completions/request-schema.ts';
import { ResponsesRequest } from '../chat/openai-responses/request-schema.ts';
import { callerNames } from './request-shape.ts';

const SCHEMAS: { readonly [dialect: string]: TSchema } = {
  'openai-chat': ChatRequest,
  'openai-responses': ResponsesRequest,
  'openai-responses-compact': ResponsesRequest,
  'openai-completions': CompletionRequest,
  'anthropic-messages': MessagesRequest,
  gemini: GenerateRequest,
};

type CallerNames = ReturnType<typeof callerNames>;
const known = new Map<string, CallerNames>();

/**
 * Maps OpenAI's member names to the dialect's names. A name that is not listed is the same in both, or does not exist.
 */
function namesIn(dialect: string): CallerNames | undefined {
  const schema = SCHEMAS[dialect];
  if (!schema) return undefined;
  let names = known.get(dialect);
  if (!names) {
    names = callerNames(schema);
    known.set(dialect, names);
  }
  return names;
}

const QUOTED = /`([a-z_]+)`/g;

/**
 * Replaces the member names in backticks with those of the caller's format.
 * @example inCallerNames('`max_tokens` was dropped.', 'gemini') // '`generationConfig.maxOutputTokens` was dropped.'
 */
export function inCallerNames(sentence: string, dialect: string): string {
  const own = namesIn(dialect);
  if (!own) return sentence;
  return sentence.replace(QUOTED, (quoted, name: string) => {
    const named = entryOf(own, name);
    return named ? `\`${named}\`` : quoted;
  });
}

/** Names of OpenAI's other formats and newer models, as providers have them in their errors: the name in chat completions. */
const OTHER_NAMES: readonly (readonly [name: string, inChat: string])[] = [
  ['max_output_tokens', 'max_tokens'],
  ['max_completion_tokens', 'max_tokens'],
  ['input', 'messages'],
  ['text.format', 'response_format'],
  ['text.verbosity', 'verbosity'],
  ['reasoning.effort', 'reasoning_effort'],
];

/** A member's path in the format of chat completions. */
function inChat(param: string): string {
  for (const [name, other] of OTHER_NAMES) {
    if (param === name || param.startsWith(`${name}.`) || param.startsWith(`${name}[`))
      return other + param.slice(name.length);
  }
  return param;
}

/**
 * Replaces the member names in an error that was found while writing for a provider of another format, or that such a
 * provider returned: in its message and its `param`.
 */
export function errorInCallerNames(thrown: unknown, dialect: string): unknown {
  if (!(thrown instanceof GatewayError) || !(dialect in SCHEMAS)) return thrown;
  const { param } = thrown;
  const own = param === undefined ? undefined : paramIn(param, dialect);
  let message = inCallerNames(thrown.message, dialect);
  // Providers put the name in other quotes. Only the member of the error is replaced there: other quoted words are values.
  if (own !== undefined && own !== param) {
    for (const quote of ["'", '"']) message = message.replaceAll(quote + param + quote, quote + own + quote);
  }
  return own === param && message === thrown.message ? thrown : thrown.reworded(message, own);
}

function paramIn(param: string, dialect: string): string {
  const chat = inChat(param);
  const [, first = '', rest = ''] = /^([a-z_]+)(.*)$/.exec(chat) ?? [];
  const names = namesIn(dialect);
  const own = names && entryOf(names, first);
  return own === undefined ? chat : own + rest;
}
