/**
 * Converts JSON schemas to the strict subset that the provider supports. Unsupported keywords become text in the
 * description.
 */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';

const KEPT = new Set([
  'type',
  'properties',
  'required',
  'items',
  'enum',
  'const',
  'anyOf',
  'allOf',
  'description',
  'title',
  'default',
  '$defs',
  'definitions',
]);
const FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']);
/** Keywords without meaning for the model: removed without mention. */
const MUTE = new Set(['$schema', '$id', '$comment', 'additionalProperties', 'propertyOrdering', 'nullable', 'oneOf']);

/**
 * Whether the schema keeps its meaning when every object gets `additionalProperties: false`, which strict mode
 * requires.
 */
export function canBeStrict(schema: Json | undefined): boolean {
  if (Array.isArray(schema)) return schema.every(canBeStrict);
  if (!isObject(schema)) return true;
  if (isOpen(schema)) return false;
  const lists = [schema.items, schema.anyOf, schema.oneOf, schema.allOf];
  const tables = [schema.properties, schema.$defs, schema.definitions];
  return (
    lists.every(canBeStrict) && tables.every((table) => !isObject(table) || Object.values(table).every(canBeStrict))
  );
}

function isOpen({ type, properties, additionalProperties, anyOf, oneOf, allOf, $ref }: JsonObject): boolean {
  if (isObject(additionalProperties) || additionalProperties === true) return true;
  if (type !== 'object') return false;
  return !properties && !anyOf && !oneOf && !allOf && !$ref && additionalProperties !== false;
}

export function strictSchema(schema: Json): Json {
  if (!isObject(schema)) return schema;
  if (typeof schema.$ref === 'string') return refSchema(schema, schema.$ref);
  const strict: JsonObject = {};
  const unsaid: string[] = [];
  for (const [member, value] of Object.entries(schema)) {
    if (KEPT.has(member) || isTaken(member, value)) strict[member] = nested(member, value);
    else if (!MUTE.has(member)) unsaid.push(`${member}: ${JSON.stringify(value)}`);
  }
  if (Array.isArray(schema.oneOf)) strict.anyOf = [...asList(strict.anyOf), ...schema.oneOf.map(strictSchema)];
  if (schema.nullable === true && typeof schema.type === 'string') strict.type = [schema.type, 'null'];
  if (schema.type === 'object' || isObject(schema.properties)) {
    strict.type ??= 'object';
    strict.properties ??= {};
    strict.additionalProperties = false;
  }
  if (unsaid.length > 0) {
    const description = typeof schema.description === 'string' ? `${schema.description}\n\n` : '';
    strict.description = `${description}{${unsaid.join(', ')}}`;
  }
  return strict;
}

/** `$ref` allows no siblings but the definitions at the root. */
function refSchema(schema: JsonObject, $ref: string): JsonObject {
  const alone: JsonObject = { $ref };
  for (const table of ['$defs', 'definitions']) if (schema[table]) alone[table] = nested(table, schema[table]);
  return alone;
}

function isTaken(member: string, value: Json): boolean {
  if (member === 'format') return typeof value === 'string' && FORMATS.has(value);
  return member === 'minItems' && (value === 0 || value === 1);
}

function nested(member: string, value: Json): Json {
  switch (member) {
    case 'properties':
    case '$defs':
    case 'definitions':
      if (!isObject(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, strictSchema(schema)]));
    case 'items':
      return strictSchema(value);
    case 'anyOf':
    case 'allOf':
      return asList(value).map(strictSchema);
    default:
      return value;
  }
}

function asList(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

/** A tool's parameters: an object without `oneOf`, `anyOf` or `allOf` at the top, which the provider refuses. */
export function toolSchema(parameters: JsonObject | undefined): JsonObject {
  if (!parameters || Object.keys(parameters).length === 0) return { type: 'object', properties: {} };
  const branches = [parameters.anyOf, parameters.oneOf, parameters.allOf].flatMap(asList).filter(isObject);
  if (branches.length === 0) return parameters.type === 'object' ? parameters : { ...parameters, type: 'object' };
  const { anyOf: _, oneOf: __, allOf, ...schema } = parameters;
  const properties = Object.assign({}, ...branches.map((branch) => branch.properties), schema.properties);
  const required = [
    ...asList(schema.required),
    ...asList(allOf).flatMap((one) => asList(isObject(one) ? one.required : [])),
  ];
  return { ...schema, type: 'object', properties, ...(required.length > 0 && { required: [...new Set(required)] }) };
}
