/** Members under the names that the caller's own format has for them: warnings and errors speak of a request in its own words. */
import type { TSchema } from 'typebox';
import { GatewayError } from '../../canonical/errors.ts';
import { MessagesRequest } from '../chat/anthropic-messages/request-schema.ts';
import { GenerateRequest } from '../chat/gemini/request-schema.ts';
import { CompletionRequest } from '../chat/openai-completions/request-schema.ts';
import { ResponsesRequest } from '../chat/openai-responses/request-schema.ts';
import { callersNames } from './request-shape.ts';

const SCHEMAS: { readonly [dialect: string]: TSchema } = {
  'openai-responses': ResponsesRequest,
  'openai-responses-compact': ResponsesRequest,
  'openai-completions': CompletionRequest,
  'anthropic-messages': MessagesRequest,
  gemini: GenerateRequest,
};

type Names = ReturnType<typeof callersNames>;
const known = new Map<string, Names>();

/** By the name that this program's sentences use, which is OpenAI's; what is not listed has the same name, or none. */
function namesIn(dialect: string): Names | undefined {
  const schema = SCHEMAS[dialect];
  if (!schema) return undefined;
  let names = known.get(dialect);
  if (!names) {
    names = callersNames(schema);
    known.set(dialect, names);
  }
  return names;
}

const QUOTED = /`([a-z_]+)`/g;

/** The sentence, in which members stand in backticks, for a caller of this format. */
export function inCallersWords(sentence: string, dialect: string): string {
  const own = namesIn(dialect);
  return own ? sentence.replace(QUOTED, (quoted, name: string) => (own[name] ? `\`${own[name]}\`` : quoted)) : sentence;
}

/** The same of an error that was met on the way to a provider of another format. */
export function errorInCallersWords(thrown: unknown, dialect: string): unknown {
  if (!(thrown instanceof GatewayError) || !(dialect in SCHEMAS)) return thrown;
  const { param } = thrown;
  const [, first = '', rest = ''] = /^([a-z_]+)(.*)$/.exec(param ?? '') ?? [];
  const own = namesIn(dialect)?.[first];
  const message = inCallersWords(thrown.message, dialect);
  if (own === undefined && message === thrown.message) return thrown;
  return thrown.reworded(message, own === undefined ? param : own + rest);
}
