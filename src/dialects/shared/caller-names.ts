/**
 * Translates member names in warnings and errors: internal sentences use OpenAI's names, the caller sees the names of
 * its own format.
 */
import type { TSchema } from 'typebox';
import { GatewayError } from '../../canonical/errors.ts';
import { MessagesRequest } from '../chat/anthropic-messages/request-schema.ts';
import { GenerateRequest } from '../chat/gemini/request-schema.ts';
import { CompletionRequest } from '../chat/openai-completions/request-schema.ts';
import { ResponsesRequest } from '../chat/openai-responses/request-schema.ts';
import { callerNames } from './request-shape.ts';

const SCHEMAS: { readonly [dialect: string]: TSchema } = {
  'openai-responses': ResponsesRequest,
  'openai-responses-compact': ResponsesRequest,
  'openai-completions': CompletionRequest,
  'anthropic-messages': MessagesRequest,
  gemini: GenerateRequest,
};

type Names = ReturnType<typeof callerNames>;
const known = new Map<string, Names>();

/**
 * Maps OpenAI's member names to the dialect's names. A name that is not listed is the same in both, or does not exist.
 */
function namesIn(dialect: string): Names | undefined {
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
  return own ? sentence.replace(QUOTED, (quoted, name: string) => (own[name] ? `\`${own[name]}\`` : quoted)) : sentence;
}

/**
 * Replaces the member names in an error that was found while writing for a provider of another format: in its message
 * and its `param`.
 */
export function errorInCallerNames(thrown: unknown, dialect: string): unknown {
  if (!(thrown instanceof GatewayError) || !(dialect in SCHEMAS)) return thrown;
  const { param } = thrown;
  const [, first = '', rest = ''] = /^([a-z_]+)(.*)$/.exec(param ?? '') ?? [];
  const own = namesIn(dialect)?.[first];
  const message = inCallerNames(thrown.message, dialect);
  if (own === undefined && message === thrown.message) return thrown;
  return thrown.reworded(message, own === undefined ? param : own + rest);
}
