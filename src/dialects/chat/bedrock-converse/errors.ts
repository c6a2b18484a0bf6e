/** Reads errors: responses, and exceptions in a stream. */
import type { GatewayError } from '../../../canonical/errors.ts';
import { isObject } from '../../../canonical/json.ts';
import { readOpenaiError } from '../../shared/openai-errors.ts';

/** The HTTP status of each exception. In a stream it is the only source; some responses have a less specific status. */
const STATUSES: { readonly [exception: string]: number } = {
  validation: 400,
  unrecognizedclient: 403,
  expiredtoken: 403,
  accessdenied: 403,
  resourcenotfound: 404,
  modeltimeout: 408,
  modelerror: 424,
  modelstreamerror: 424,
  throttling: 429,
  servicequotaexceeded: 429,
  modelnotready: 503,
  serviceunavailable: 503,
  internalserver: 500,
};

/** Errors of the operator's configuration, which the provider reports as the request's. Another target may succeed. */
const MISCONFIGURED =
  /model identifier is invalid|on-demand throughput|access to the model|not supported in this region|end of its life/i;
const RESOURCE = /\barn:aws[\w-]*:[^\s"',]+/g;

export function readError(status: number, headers: Headers, body: Uint8Array): GatewayError {
  const message = messageIn(body);
  const word = headers.get('x-amzn-errortype') ?? '';
  return errorOf(statusOf(word) ?? status, headers, message);
}

/** Reads an exception in a stream: its type and payload. */
export function readException(type: string, payload: Uint8Array): GatewayError {
  return errorOf(statusOf(type) ?? 500, new Headers(), messageIn(payload));
}

/** Accepts `ThrottlingException:http://…` and `throttlingException`. */
function statusOf(word: string): number | undefined {
  const [, name = ''] = /^(\w+?)(Exception)?(:|$)/.exec(word) ?? [];
  return STATUSES[name.toLowerCase()];
}

function errorOf(status: number, headers: Headers, message: string): GatewayError {
  const isOperators = (status === 400 || status === 404) && MISCONFIGURED.test(message);
  const shown = { message: message.replace(RESOURCE, '[resource]') };
  return readOpenaiError(isOperators ? 403 : status, headers, new TextEncoder().encode(JSON.stringify(shown)));
}

function messageIn(body: Uint8Array): string {
  const text = new TextDecoder().decode(body);
  try {
    const parsed: unknown = JSON.parse(text);
    const message = isObject(parsed) ? (parsed.message ?? parsed.Message) : undefined;
    return typeof message === 'string' ? message : '';
  } catch {
    return '';
  }
}
