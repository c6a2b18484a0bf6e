/** What the reference shows of `/openapi.json`. Pure. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
}

interface Operation {
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema?: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
}

export interface Member {
  name: string;
  type: string;
  isRequired: boolean;
  description: string | undefined;
}

export interface Entry {
  id: string;
  method: string;
  path: string;
  tag: string;
  text: string;
  members: readonly Member[];
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);

function typeOf(schema: Schema | undefined): string {
  if (!schema) return '';
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? '';
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(' | ');
  if (schema.type === 'array') return `${typeOf(schema.items)}[]`;
  return Array.isArray(schema.type) ? schema.type.join(' | ') : (schema.type ?? '');
}

function resolve(schema: Schema, api: OpenApi): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return (name && api.components?.schemas?.[name]) || schema;
}

function membersOf({ parameters = [], requestBody }: Operation, api: OpenApi): readonly Member[] {
  const inAddress = parameters.map(({ name, required = false, description, schema }) => ({
    name,
    type: typeOf(schema),
    isRequired: required,
    description,
  }));
  const content = requestBody && Object.values(requestBody.content)[0];
  const body = content && resolve(content.schema, api);
  const inBody = Object.entries(body?.properties ?? {}).map(([name, schema]) => ({
    name,
    type: typeOf(schema),
    isRequired: body?.required?.includes(name) ?? false,
    description: schema.description,
  }));
  return [...inAddress, ...inBody];
}

/** The operations that callers use: those of the admin API and of the console are left out. */
export function entriesOf(api: OpenApi): readonly Entry[] {
  return Object.entries(api.paths)
    .filter(([path]) => !/^\/(admin|console)\//.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => METHODS.has(method))
        .map(([method, operation]) => ({
          id: `${method} ${path}`,
          method: method.toUpperCase(),
          path,
          tag: operation.tags?.[0] ?? '',
          text: operation.summary ?? operation.description ?? '',
          members: membersOf(operation, api),
        })),
    );
}
