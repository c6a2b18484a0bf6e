/** Writes the route table as an OpenAPI 3.1 document. */
import { type TSchema, Type } from 'typebox';
import type { Json } from '../../canonical/json.ts';
import { anthropicError, type ErrorWriter, googleError, openaiError } from '../../dialects/shared/error-bodies.ts';
import { errorWriterFor } from '../families.ts';
import type { Documented } from '../route.ts';
import { ACCOUNT_OPERATIONS } from './account-operations.ts';
import { CHAT_OPERATIONS } from './chat-operations.ts';
import { ERROR_SCHEMAS } from './errors.ts';
import { ERROR_HEADERS, HEADER_COMPONENTS, headerParameters, responseHeaders } from './headers.ts';
import { MEDIA_OPERATIONS } from './media-operations.ts';
import { type Operation, type Operations, TAGS } from './operation.ts';
import { pathParameterText, queryParameterText } from './parameters.ts';
import replies from './replies.json' with { type: 'json' };
import { OpenapiSchemas } from './schemas.ts';

/** All operations of the document, by method and path. */
export const OPERATIONS: Operations = { ...CHAT_OPERATIONS, ...MEDIA_OPERATIONS, ...ACCOUNT_OPERATIONS };

export interface About {
  version: string;
  /** The public URL of the gateway. Absent: the URL from which the document was read. */
  url?: string | undefined;
}

const DESCRIPTION =
  'A model gateway: one service, one address, one key, in front of every AI provider. ' +
  'Any model can be called in any API format that can express the request; errors have the format of the path.';

export function describeRoutes(rows: readonly Documented[], { version, url }: About): object {
  const schemas = new OpenapiSchemas();
  const paths: { [path: string]: { [method: string]: object } } = {};
  for (const row of rows) {
    const path = shownPath(row);
    // The same route again, for clients that append a slash.
    if (path.length > 1 && path.endsWith('/')) continue;
    const operation = OPERATIONS[`${row.method} ${path}`] ?? undescribed(row, path);
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: describe(row, path, operation, schemas) };
  }
  const responses = Object.fromEntries(
    [...FAMILIES.values()].map((family) => {
      const { description, schema, example } = ERROR_SCHEMAS[family];
      const content = contentOf(schemas.write(schema), example);
      return [family, { description, headers: ERROR_HEADERS, content }];
    }),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Modelport',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: url ?? '/', description: 'This installation.' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: schemas.components,
      responses,
      headers: HEADER_COMPONENTS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

/** A route without an operation: a test finds it, and the document still lists it. */
function undescribed({ method, gate }: Documented, path: string): Operation {
  const words = path.replace(/[^A-Za-z0-9]+(\w?)/g, (_, letter: string) => letter.toUpperCase());
  return { id: method.toLowerCase() + words, tag: gate === 'admin' ? 'Records' : 'Status' };
}

const SECURITY_SCHEMES = {
  caller: { type: 'http', scheme: 'bearer', description: "A caller's key, `sk-…`." },
  admin: { type: 'http', scheme: 'bearer', description: "An admin's key, `sk-admin-…`." },
  anthropic: { type: 'apiKey', in: 'header', name: 'x-api-key', description: "A caller's key." },
  google: { type: 'apiKey', in: 'header', name: 'x-goog-api-key', description: "A caller's key." },
  googleQuery: { type: 'apiKey', in: 'query', name: 'key', description: "A caller's key." },
};

type Family = keyof typeof ERROR_SCHEMAS;
const FAMILIES: ReadonlyMap<ErrorWriter, Family> = new Map([
  [openaiError, 'OpenAiError'],
  [anthropicError, 'AnthropicError'],
  [googleError, 'GoogleError'],
]);

/** A parameter in a path as Hono writes it: `:id`, `:name{.+}`. */
const PARAMETER = /:(\w+)(?:\{[^}]*\})?/g;
const SHOWN_PARAMETER = /\{(\w+)\}/g;

export function shownPath({ path, reading }: Pick<Documented, 'path' | 'reading'>): string {
  return reading?.shown ?? path.replace(PARAMETER, '{$1}');
}

function describe(row: Documented, path: string, operation: Operation, schemas: OpenapiSchemas): object {
  const parameters = [
    ...pathParameters(path, operation),
    ...queryParameters(row, operation, schemas),
    ...headerParameters(row, operation),
  ];
  const error = { $ref: `#/components/responses/${FAMILIES.get(errorWriterFor(row.method, path))}` };
  const body = bodyOf(row, operation, schemas);
  const headers = responseHeaders(row);
  const content = replyOf(row, operation, schemas);
  return {
    operationId: operation.id,
    summary: row.summary,
    tags: [operation.tag],
    security: security(row),
    ...(row.permission && { 'x-permission': row.permission }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: {
      200: { description: 'The response.', headers, content },
      ...(operation.headers?.includes('range') && { 206: { description: 'The requested part.', headers, content } }),
      ...(operation.accepted && {
        202: {
          description: 'The work continues.',
          headers,
          content: contentOf(schemas.write(operation.accepted), undefined),
        },
      }),
      '4XX': error,
      '5XX': error,
    },
  };
}

function pathParameters(path: string, { path: examples = {} }: Operation): object[] {
  return [...path.matchAll(SHOWN_PARAMETER)].map(([, name = '']) => {
    const description = pathParameterText(path, name);
    return {
      name,
      in: 'path',
      required: true,
      ...(description !== undefined && { description }),
      schema: { type: 'string' },
      ...(examples[name] !== undefined && { example: examples[name] }),
    };
  });
}

function queryParameters({ query }: Documented, operation: Operation, schemas: OpenapiSchemas): object[] {
  const required: readonly string[] = query.required ?? [];
  return Object.entries<TSchema>(query.properties).map(([name, schema]) => {
    const { description = queryParameterText(name), ...written } = schemas.write(schema);
    const example = operation.query?.[name];
    return {
      name,
      in: 'query',
      ...(required.includes(name) && { required: true }),
      ...(description !== undefined && { description }),
      schema: written,
      ...(example !== undefined && { example }),
    };
  });
}

function bodyOf(row: Documented, { body, form, request }: Operation, schemas: OpenapiSchemas): object | undefined {
  const json = body ?? row.body;
  if (!json && !form) return undefined;
  const content = {
    ...(json && contentOf(schemas.write(json), request)),
    ...(form && contentOf(schemas.write(form), json ? undefined : request, 'multipart/form-data')),
  };
  const required = [json, form].some(
    (schema) => ((schema as { required?: string[] } | undefined)?.required ?? []).length > 0,
  );
  return { ...(required && { required: true }), content };
}

function replyOf(row: Documented, operation: Operation, schemas: OpenapiSchemas): object {
  const reply = schemas.write(operation.reply ?? row.reply ?? Type.Unknown());
  const events = operation.events && schemas.write(operation.events);
  const examples: { readonly [id: string]: { reply?: Json; event?: Json } } = replies;
  const { reply: example = operation.example, event } = examples[operation.id] ?? {};
  // An operation that only streams.
  if (operation.replyType === EVENTS) return contentOf({ ...reply, description: EVENT }, event, EVENTS);
  return {
    ...contentOf(reply, example, operation.replyType),
    ...Object.fromEntries(
      Object.entries(operation.alsoAs ?? {}).map(([type, text]) => [
        type,
        { schema: { type: 'string' }, example: text },
      ]),
    ),
    ...(events && contentOf({ ...events, description: EVENT }, event, EVENTS)),
  };
}

const EVENTS = 'text/event-stream';
const EVENT = 'The data of each event, as JSON.';

function contentOf(schema: object, example: Json | undefined, type = 'application/json'): { [type: string]: object } {
  return { [type]: { schema, ...(example !== undefined && { example }) } };
}

function security({ gate, carriers }: Documented): object[] {
  if (gate === 'open') return [];
  const schemes: object[] = [{ [gate]: [] }];
  if (carriers.anthropic) schemes.push({ anthropic: [] });
  if (carriers.google) schemes.push({ google: [] }, { googleQuery: [] });
  return schemes;
}
