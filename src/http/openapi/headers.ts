/** Request and response headers for the OpenAPI document. `docs/api.md` explains them. */
import type { Documented } from '../route.ts';
import type { Operation, RequestHeader } from './operation.ts';

interface DescribedHeader {
  description: string;
  required?: true;
  schema: { type: 'string' | 'integer'; enum?: string[] };
  example: string | number;
}

const TEXT = { type: 'string' } as const;

const REQUEST: { readonly [name in RequestHeader]: DescribedHeader } = {
  'anthropic-version': {
    description: 'The version of the Anthropic format. `vendor1-version` is the same header.',
    required: true,
    schema: TEXT,
    example: '2023-06-01',
  },
  'idempotency-key': {
    description: 'A repeated request with the same value returns the first result and changes nothing.',
    schema: TEXT,
    example: 'order-4711',
  },
  range: { description: 'The requested part of the file.', schema: TEXT, example: 'bytes=0-1023' },
  'x-modelport-strict': {
    description: '`true`: a translation that would lose something is refused with 400 `lossy_translation`.',
    schema: { type: 'string', enum: ['true', 'false'] },
    example: 'true',
  },
  'x-modelport-tags': {
    description: 'Up to 16 tags for reports of usage, separated by commas. They are not sent to providers.',
    schema: TEXT,
    example: 'team-a, batch',
  },
};

const RESPONSE: { readonly [name: string]: DescribedHeader } = {
  'x-request-id': {
    description: 'The id of the request, and of its call: `GET /v1/calls/{id}`.',
    required: true,
    schema: TEXT,
    example: 'req_2b1Jk6Yt0Xa9',
  },
  'retry-after': { description: 'When to try again, in seconds, if known.', schema: { type: 'integer' }, example: 7 },
  'x-modelport-cost': {
    description: 'The cost in USD, if it is known before the body ends.',
    schema: TEXT,
    example: '0.0000122',
  },
  'x-modelport-attempts': { description: 'The attempts of the call.', schema: { type: 'integer' }, example: 1 },
  'x-modelport-provider': {
    description: 'The provider that answered, unless the operator hides it.',
    schema: TEXT,
    example: 'sandbox',
  },
  'x-modelport-warnings': {
    description: 'What translation dropped or approximated.',
    schema: TEXT,
    example: 'dropped "top_k"',
  },
  'x-modelport-cache': {
    description: '`hit`, `miss` or `bypass`, if the key has a cache.',
    schema: { type: 'string', enum: ['hit', 'miss', 'bypass'] },
    example: 'miss',
  },
};

/** `components.headers`. */
export const HEADER_COMPONENTS: object = RESPONSE;

const refs = (names: readonly string[]): object =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

export const ERROR_HEADERS: object = refs(['x-request-id', 'retry-after']);
const OF_CALL: object = refs(Object.keys(RESPONSE).filter((name) => name !== 'retry-after'));
const OF_OTHERS: object = refs(['x-request-id']);

/** A route whose requests are calls of models. */
const isCall = (row: Documented) => 'dialect' in row;

/** The headers of a successful response. */
export function responseHeaders(row: Documented): object {
  return isCall(row) ? OF_CALL : OF_OTHERS;
}

/** Header parameters. Every call can be strict and have tags. */
export function headerParameters(row: Documented, { headers = [] }: Operation): object[] {
  const names: RequestHeader[] = [
    ...headers,
    ...(isCall(row) ? (['x-modelport-strict', 'x-modelport-tags'] as const) : []),
  ];
  return names.map((name) => ({ name, in: 'header', ...REQUEST[name] }));
}
