/** Reads error responses of providers that speak OpenAI's formats. They differ widely in shape. */

import { entryOf } from '../../canonical/entry-of.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import { retryAfterMs } from '../../canonical/retry-after.ts';
import { openaiError } from './error-bodies.ts';
import { parsedJson } from './json-values.ts';

/** The provider's error, extracted but not yet classified. */
interface Words {
  message?: string;
  type?: string;
  code?: string;
  param?: string;
  /** An HTTP status inside the body. */
  status?: number;
}

const NEUTRAL = 'Please try again later or use another model.';
const MAX_MESSAGE_LENGTH = 2000;

/** Reads an error response. */
export function readOpenaiError(status: number, headers: Headers, body: Uint8Array): GatewayError {
  const text = new TextDecoder().decode(body);
  return errorOf(status, wordsIn(parsedJson(text)), retryAfterSeconds(status, headers));
}

/** Reads an error object inside a reply that began with status 200. */
export function readErrorObject(error: Json): GatewayError {
  const words = wordsIn({ error });
  return errorOf(words.status ?? entryOf(STATUS_OF_TYPE, words.type ?? '') ?? 500, words, undefined);
}

/** An error inside a reply often has no status; it is derived from the type. */
const STATUS_OF_TYPE: { readonly [type: string]: number } = {
  invalid_request_error: 400,
  authentication_error: 401,
  insufficient_quota: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  overloaded_error: 529,
};

function errorOf(status: number, words: Words, retryAfter: number | undefined): GatewayError {
  // For the log: codes only, no messages. A message may quote a key, a prompt or a reply.
  const cause = { status, type: words.type, code: words.code };
  const timing = retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter };
  if (isOurFault(status, words)) {
    return new GatewayError('upstream_failed', `The provider did not accept the gateway. ${NEUTRAL}`, {
      cause,
      credentialRefused: true,
    });
  }
  switch (status) {
    case 400:
    case 404:
    case 413:
    case 422:
      return new GatewayError('upstream_refused', publicMessage(words), {
        cause,
        status,
        ...(words.param !== undefined && { param: words.param }),
        ...(words.code !== undefined && { providerCode: words.code }),
        ...(words.type !== undefined && { providerErrorType: words.type }),
      });
    case 429:
      return new GatewayError('rate_limited', `The model is receiving too many requests. ${NEUTRAL}`, {
        cause,
        ...timing,
      });
    case 529:
      return new GatewayError('upstream_unavailable', `The model is overloaded. ${NEUTRAL}`, { cause, ...timing });
    case 408:
    case 504:
      return new GatewayError('upstream_timeout', `The model took too long to answer. ${NEUTRAL}`, {
        cause,
        ...timing,
      });
    default:
      return new GatewayError('upstream_failed', `The provider failed. ${NEUTRAL}`, { cause, ...timing });
  }
}

const QUOTA =
  /insufficient[ _](quota|balance|credit|funds)|quota_exceeded|billing_(hard_limit|not_active)|exceeded your current quota/i;
const CREDENTIAL =
  /\b(incorrect|invalid|missing|expired|wrong|unknown|no)\b[^.]{0,40}\bapi[ _-]?key|\bapi[ _-]?key\b[^.]{0,40}\b(invalid|incorrect|not valid|expired|missing|not found)|^invalid_api_key$/i;

/** Whether the operator's credential or quota is at fault. Some providers report that as 400 or 429. */
function isOurFault(status: number, { message = '', code = '', type = '' }: Words): boolean {
  if (status === 401 || status === 402 || status === 403) return true;
  if (QUOTA.test(code) || QUOTA.test(type) || QUOTA.test(message)) return true;
  return status === 400 && (CREDENTIAL.test(message) || CREDENTIAL.test(code));
}

function wordsIn(body: unknown): Words {
  if (Array.isArray(body)) return wordsIn(body[0]);
  if (!isObject(body)) return {};
  const { error, detail, errors } = body;
  if (isObject(error)) return wordsOf(error);
  if (typeof error === 'string') return { ...wordsOf(body), message: error };
  if (typeof detail === 'string') return { ...wordsOf(body), message: detail };
  if (Array.isArray(detail)) return firstComplaint(detail);
  if (isObject(detail)) return wordsOf(detail);
  if (Array.isArray(errors)) return wordsIn(typeof errors[0] === 'string' ? { message: errors[0] } : errors[0]);
  return wordsOf(body);
}

/** Codes and types are words. Some providers put a status or a sentence there. */
const WORD = /^(?!\d+$)[\w.:-]+$/;

function wordsOf(error: JsonObject): Words {
  const { type, code, param } = error;
  const words: Words = {};
  const message = [error.message, error.msg, error.error_msg, error.error].find((one) => typeof one === 'string');
  if (typeof message === 'string' && message.trim() !== '') words.message = message;
  else if (isObject(error.message)) return wordsIn(error.message);
  if (typeof type === 'string' && WORD.test(type)) words.type = type;
  if (typeof code === 'string' && WORD.test(code)) words.code = code;
  if (typeof param === 'string' && param !== '') words.param = param;
  const status = [error.status_code, error.status, code].map(Number).find((one) => one >= 400 && one < 600);
  if (status !== undefined) words.status = status;
  return words;
}

/** The error list of a validation framework (FastAPI): `[{loc: ["body", "messages", 0], msg, type}]`. */
function firstComplaint(list: readonly Json[]): Words {
  const first = list.find(isObject);
  if (!first) return {};
  const words = wordsOf(first);
  if (!Array.isArray(first.loc)) return words;
  const path = first.loc
    .filter((step) => step !== 'body')
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`));
  if (path.length > 0) words.param = path.join('').replace(/^\./, '');
  return words;
}

const LINK = /https?:\/\/[^\s"'<>)\]]+/gi;
/** File names in messages are the client's own; they may be shown. */
const FILE = /\.(png|jpe?g|gif|webp|bmp|tiff?|pdf|txt|csv|docx?|wav|mp3|ogg|flac|mp4|mov|webm)([?#]|$)/i;
const SECRET = /\b(sk|pk|rk|gsk|xai|hf|pplx|key|Bearer)[-_ ][\w*.-]{8,}|\bAIza[\w*-]{8,}/g;
/** Clouds name their resources by path. */
const PROJECT = /\b(projects|subscriptions|resourceGroups)\/[^\s/'"`]+/g;
const ACCOUNT = /\b(org|proj|user|acct|account|team|workspace|tenant)[-_][\w-]{6,}/g;

/** The provider's message without the operator's data: keys, accounts, addresses. */
function publicMessage({ message }: Words): string {
  if (message === undefined || /<(html|!doctype|body)\b/i.test(message)) return 'The model refused the request.';
  return message
    .replace(LINK, (link) => (FILE.test(link) ? link : '[link]'))
    .replace(SECRET, '[key]')
    .replace(PROJECT, '$1/[project]')
    .replace(ACCOUNT, '[account]')
    .slice(0, MAX_MESSAGE_LENGTH);
}

function retryAfterSeconds(status: number, headers: Headers): number | undefined {
  const wait = retryAfterMs((name) => headers.get(name), status === 429);
  return wait === undefined ? undefined : Math.ceil(wait / 1000);
}

/** The errors of a format of OpenAI, in both directions. */
export const OPENAI_ERRORS = { writeError: openaiError, readError: readOpenaiError };
