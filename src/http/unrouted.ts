/** Errors for requests without a route: wrong method, endpoints that are not offered, and wrong base URLs. */
import { GatewayError } from '../canonical/errors.ts';

/** Endpoints of the served API formats that this service does not offer, with their names. */
const NOT_OFFERED: readonly { at: RegExp; what: string; instead?: string }[] = [
  { at: /^\/v1\/messages\/batches(\/|$)/, what: 'Message batches', instead: 'Send the calls one by one.' },
  { at: /^\/v1\/batches(\/|$)/, what: 'Batches', instead: 'Send the calls one by one.' },
  { at: /^\/v1\/(files|uploads)(\/|$)/, what: 'Stored files', instead: 'Send the file in the request, as base64.' },
  { at: /^\/v1\/complete$/, what: "Anthropic's text completions", instead: 'Use POST /v1/messages.' },
  { at: /^\/v1\/fine_tuning(\/|$)/, what: 'Fine-tuning jobs' },
  { at: /^\/v1\/(assistants|threads)(\/|$)/, what: 'Assistants', instead: 'Use POST /v1/responses.' },
  { at: /^\/v1\/vector_stores(\/|$)/, what: 'Vector stores' },
  { at: /^\/v1\/(realtime|live)(\/|$)/, what: 'Realtime sessions' },
  { at: /^\/v1\/(containers|evals|skills)(\/|$)/, what: 'Containers, evals and skills' },
  {
    at: /^\/v1(beta)?\/(cachedContents|tunedModels|corpora|batches)(\/|$)/,
    what: 'Caches, tuned models, corpora and batches',
  },
];

/** Google's clients upload a file before the request that uses it, so the upload itself is refused. */
const GOOGLE_FILES = /^(\/upload)?\/v1(beta)?\/files(\/|:|$)/;

/** Throws for a path of a known endpoint that is not offered. */
export function refuseNotOffered(path: string): void {
  if (GOOGLE_FILES.test(path) && !path.startsWith('/v1/')) {
    const sentence =
      'Files cannot be uploaded here: send them in the request, as base64 in `inlineData`. `fileData.fileUri` is not supported for files of this service.';
    throw new GatewayError('file_reference_unsupported', sentence);
  }
  const row = NOT_OFFERED.find(({ at }) => at.test(path));
  if (!row) return;
  const instead = row.instead ?? 'GET /openapi.json lists the endpoints.';
  throw new GatewayError('not_found', `${row.what} are not offered: there is nothing at ${path}. ${instead}`);
}

const OPENAI_BASE = 'The base URL of an OpenAI client ends in `/v1`, once, with nothing behind it';
const OTHER_BASE =
  "the base URL of an Anthropic or Google client is the address alone, but the AI SDK's providers have `/v1` and `/v1beta`";
const BASES = `${OPENAI_BASE}; ${OTHER_BASE}.`;

/** Searching takes longer for longer paths, and this searches several. */
const LONGEST_CORRECTED = 200;

/** The path that was probably meant, if `isKnown` accepts it: the base URL lacks a part or has one too many. */
export function pathMeant(path: string, isKnown: (path: string) => boolean): string | undefined {
  if (path.length > LONGEST_CORRECTED) return undefined;
  const tidy = path.replace(/\/{2,}/g, '/').replace(/^\/v1(?:beta)?(?=\/)/i, (version) => version.toLowerCase());
  const meant = [
    tidy,
    `/v1${tidy}`,
    `/v1beta${tidy}`,
    ...withoutPrefix(tidy),
    withoutRepeat(tidy, 1),
    withoutRepeat(tidy, 2),
    tidy.endsWith('/') ? tidy.slice(0, -1) : tidy,
  ];
  return meant.find((one) => one !== path && isKnown(one));
}

/** Azure's path has the most: `/openai/deployments/{model}/chat/completions`. */
const MOST_PREFIXES = 3;

/** For a base URL made for another service, such as `/anthropic` or `/v1beta/openai`: what is behind it. */
function withoutPrefix(path: string): string[] {
  const parts = path.split('/').slice(1);
  return Array.from({ length: Math.min(MOST_PREFIXES, parts.length - 1) }, (_, dropped) => {
    const rest = `/${parts.slice(dropped + 1).join('/')}`;
    return /^\/v1(beta)?\//.test(rest) ? rest : `/v1${rest}`;
  });
}

/** For a base URL that is the complete endpoint: the client appended its path again. */
function withoutRepeat(path: string, parts: number): string {
  const all = path.split('/');
  const last = all.slice(-parts).join('/');
  return all.slice(-2 * parts, -parts).join('/') === last ? all.slice(0, -parts).join('/') : path;
}

const BASE_ALONE = /^(\/openai)?\/v1(beta)?\/?$/;

export function nothingAt(path: string, meant: string | undefined): GatewayError {
  if (BASE_ALONE.test(path)) {
    const sentence = `${path} is a base URL, not an endpoint: clients append the rest, for example /v1/chat/completions or /v1/models. GET /openapi.json lists the endpoints.`;
    return new GatewayError('not_found', sentence);
  }
  if (meant === undefined)
    return new GatewayError('not_found', `There is nothing at ${path}. GET /openapi.json lists the endpoints.`);
  return new GatewayError('not_found', `There is nothing at ${path}: did you mean ${meant}? ${BASES}`);
}

/** Some clients try a WebSocket first: this error makes them use HTTP at once. */
export function noWebSocket(path: string): GatewayError {
  const sentence = `WebSockets are not offered at ${path}: send POST ${path}, with \`"stream": true\` for a stream of server-sent events.`;
  return new GatewayError('method_not_allowed', sentence, { status: 426 });
}
