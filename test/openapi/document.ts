/** The OpenAPI document as a client reads it: operations, schemas with resolved references, and validation. */
import { Compile } from 'typebox/compile';
import type { Json } from '../../src/canonical/json.ts';

export interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  properties?: { [member: string]: Schema };
  items?: Schema;
  const?: Json;
  additionalProperties?: Json;
}

export interface Content {
  schema: Schema;
  example?: Json;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  description?: string;
  required?: boolean;
  schema: Schema;
  example?: Json;
}

export interface Described {
  operationId: string;
  tags: string[];
  security: { [scheme: string]: string[] }[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: { [type: string]: Content } };
  responses: { [status: string]: { $ref?: string; headers?: object; content?: { [type: string]: Content } } };
}

export interface ApiDocument {
  openapi: string;
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: { [path: string]: { [method: string]: Described } };
  components: {
    schemas: { [name: string]: Schema };
    responses: { [name: string]: { headers: object; content: { [type: string]: Content } } };
  };
}

export interface PlacedOperation {
  method: string;
  path: string;
  operation: Described;
}

export function operationsOf({ paths }: ApiDocument): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

const PREFIX = '#/components/schemas/';

/** The schema with its references resolved. Throws if a reference does not exist. */
export function resolved(document: ApiDocument, schema: Schema): Schema {
  const { $ref, ...others } = schema;
  if ($ref !== undefined) {
    const named = document.components.schemas[$ref.slice(PREFIX.length)];
    if (!$ref.startsWith(PREFIX) || !named) throw new Error(`The reference ${$ref} leads nowhere.`);
    return { ...resolved(document, named), ...others };
  }
  const inner: Schema = { ...others };
  if (schema.anyOf) inner.anyOf = schema.anyOf.map((one) => resolved(document, one));
  if (schema.items) inner.items = resolved(document, schema.items);
  if (schema.properties) {
    const members = Object.entries(schema.properties).map(([name, one]) => [name, resolved(document, one)] as const);
    inner.properties = Object.fromEntries(members);
  }
  return inner;
}

/** What of the value does not match the schema or is not described by it; empty if there are no faults. */
export function faultsOf(document: ApiDocument, schema: Schema, value: Json): string[] {
  const whole = resolved(document, schema);
  const check = Compile(whole as never);
  if (!check.Check(value)) {
    return check.Errors(value).map(({ instancePath, message }) => `${instancePath || '/'}: ${message}`);
  }
  return undescribed(whole, value, '');
}

function undescribed(schema: Schema, value: Json, path: string): string[] {
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    return items ? value.flatMap((one, place) => undescribed(items, one, `${path}/${place}`)) : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  const fitting = objectsOf(schema, value);
  // An object schema without properties allows everything.
  if (fitting.some((one) => !one.properties || one.additionalProperties === true)) return [];
  return Object.entries(value).flatMap(([member, inner]) => {
    const found: Schema[] = fitting.flatMap(({ properties = {} }) => properties[member] ?? []);
    if (found.length === 0) return [`${path}/${member}: is not described`];
    return undescribed(found.length === 1 && found[0] ? found[0] : { anyOf: found }, inner, `${path}/${member}`);
  });
}

function itemsOf(schema: Schema): Schema | undefined {
  const all: Schema[] = [schema, ...(schema.anyOf ?? [])].flatMap(({ items }) => items ?? []);
  return all.length > 1 ? { anyOf: all } : all[0];
}

/** Of alternatives those that the value matches. */
function objectsOf(schema: Schema, value: Json): Schema[] {
  if (!schema.anyOf) return [schema];
  const fitting = schema.anyOf.filter((one) => Compile(one as never).Check(value));
  const typed = fitting.filter(({ properties }) => properties?.type?.const !== undefined);
  return (typed.length > 0 ? typed : fitting).flatMap((one) => objectsOf(one, value));
}
