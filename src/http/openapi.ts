/** The route table as an OpenAPI 3.1 description. */
import type { TSchema } from 'typebox';
import { ErrorReply } from './public-schemas.ts';
import type { Documented, Gate } from './route.ts';

export function describeRoutes(routes: readonly Documented[], version: string): object {
  const paths: { [path: string]: { [method: string]: object } } = {};
  for (const row of routes) {
    const path = shownPath(row);
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: describe(row) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Modelport',
      version,
      description: 'A model gateway: one service, one address, one key, in front of every AI vendor.',
    },
    paths,
    components: {
      schemas: { Error: ErrorReply },
      securitySchemes: {
        caller: { type: 'http', scheme: 'bearer', description: "A caller's key, sk-…" },
        admin: { type: 'http', scheme: 'bearer', description: "An admin's key, sk-admin-…" },
        anthropic: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        google: { type: 'apiKey', in: 'header', name: 'x-goog-api-key' },
        googleQuery: { type: 'apiKey', in: 'query', name: 'key' },
      },
    },
  };
}

/** A parameter of a path as the framework writes it: `:id`, `:name{.+}`. */
const PARAMETER = /:(\w+)(?:\{[^}]*\})?/g;
const SHOWN_PARAMETER = /\{(\w+)\}/g;

function shownPath({ path, reading }: Documented): string {
  return reading?.shown ?? path.replace(PARAMETER, '{$1}');
}

function describe(row: Documented): object {
  const inPath = [...shownPath(row).matchAll(SHOWN_PARAMETER)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries<TSchema>(row.query.properties).map(([name, schema]) => ({
    name,
    in: 'query',
    schema,
  }));
  const content = (schema: object, type = 'application/json') => ({ [type]: { schema } });
  return {
    summary: row.summary,
    tags: [TAGS[row.gate]],
    security: security(row),
    ...(inPath.length + inQuery.length > 0 && { parameters: [...inPath, ...inQuery] }),
    ...(row.body && { requestBody: { required: true, content: content(row.body, row.bodyType) } }),
    responses: {
      200: { description: 'Done', content: content(row.reply, row.replyType) },
      default: { description: 'Refused or failed', content: content({ $ref: '#/components/schemas/Error' }) },
    },
  };
}

const TAGS: { readonly [gate in Gate]: string } = { open: 'status', caller: 'public', admin: 'admin' };

function security({ gate, carriers }: Documented): object[] {
  if (gate === 'open') return [];
  const schemes: object[] = [{ [gate]: [] }];
  if (carriers.anthropic) schemes.push({ anthropic: [] });
  if (carriers.google) schemes.push({ google: [] }, { googleQuery: [] });
  return schemes;
}
