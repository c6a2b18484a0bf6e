/** Converts schemas between JSON Schema and the OpenAPI subset that early versions of this format require. */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
/** These may be strings: in Google's API they are 64-bit integers. */
const COUNTS = new Set(['minItems', 'maxItems', 'minProperties', 'maxProperties', 'minLength', 'maxLength']);

/** Converts the OpenAPI subset to JSON Schema. JSON Schema keywords in it stay. */
export function fromOpenapi(schema: JsonObject): JsonObject {
  const { nullable, propertyOrdering: _, ...members } = schema;
  const read: JsonObject = {};
  for (const [member, value] of Object.entries(members)) read[member] = readMember(member, value);
  return nullable === true ? orNull(read) : read;
}

function readMember(member: string, value: Json): Json {
  if (member === 'type' && typeof value === 'string') return typeOf(value);
  if (COUNTS.has(member) && typeof value === 'string' && /^\d+$/.test(value)) return Number(value);
  if (member === 'properties' && isObject(value)) return mapObject(value, readSchema);
  if (member === 'items') return readSchema(value);
  if (member === 'anyOf' && Array.isArray(value)) return value.map(readSchema);
  return value;
}

function readSchema(value: Json): Json {
  return isObject(value) ? fromOpenapi(value) : value;
}

function typeOf(word: string): string {
  const type = word.toLowerCase();
  return TYPES.has(type) ? type : word;
}

function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values, anyOf } = schema;
  if (typeof type === 'string') {
    return { ...schema, type: [type, 'null'], ...(Array.isArray(values) && { enum: [...values, null] }) };
  }
  return Array.isArray(anyOf) ? { ...schema, anyOf: [...anyOf, { type: 'null' }] } : schema;
}

const KEPT = new Set([
  'title',
  'description',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'pattern',
  'required',
  'default',
]);
/** Keywords without meaning for the model, or that the conversion handles itself. */
const SAYS_NOTHING = new Set([
  '$schema',
  '$id',
  '$defs',
  'definitions',
  '$comment',
  'examples',
  'example',
  'propertyOrdering',
]);
const FORMATS = new Set(['date-time', 'enum', 'int32', 'int64', 'float', 'double']);
const MAX_DEPTH = 32;

/** Converts JSON Schema to the subset. Keywords without a counterpart are dropped and named in `losses`. */
export function toOpenapi(schema: JsonObject, losses: Set<string>): JsonObject {
  return new SchemaWriter(schema, losses).write(schema, 0);
}

class SchemaWriter {
  readonly #root: JsonObject;
  readonly #losses: Set<string>;
  readonly #opened: string[] = [];

  constructor(root: JsonObject, losses: Set<string>) {
    this.#root = root;
    this.#losses = losses;
  }

  write(schema: JsonObject, depth: number): JsonObject {
    if (typeof schema.$ref === 'string') return this.#writeReference(schema, schema.$ref, depth);
    if (depth > MAX_DEPTH) return this.#loosened('nested too deeply', { type: 'object' });
    const { type, enum: values, const: constant, properties, items, anyOf, oneOf, allOf, ...others } = schema;
    const written: JsonObject = {};
    for (const [member, value] of Object.entries(others)) this.#writeMember(written, member, value);
    if (properties !== undefined && isObject(properties)) {
      written.properties = mapObject(properties, (inner) => this.#inner(inner, depth));
    }
    if (items !== undefined) written.items = this.#inner(items, depth);
    const choices = anyOf ?? oneOf;
    if (Array.isArray(choices)) this.#writeChoices(written, choices, depth);
    if (Array.isArray(allOf)) this.#writeAll(written, allOf, depth);
    this.#writeType(written, type);
    const allowed = constant === undefined ? values : [constant];
    if (Array.isArray(allowed)) this.#writeEnum(written, allowed);
    return written;
  }

  #inner(schema: Json, depth: number): Json {
    return isObject(schema) ? this.write(schema, depth + 1) : {};
  }

  /** The subset has no references, so each definition is inserted where it is used. */
  #writeReference({ $ref: _, ...beside }: JsonObject, name: string, depth: number): JsonObject {
    const target = this.#targetOf(name);
    if (!target || this.#opened.includes(name))
      return this.#loosened('recursive', { type: 'object', ...this.write(beside, depth + 1) });
    this.#opened.push(name);
    const written = { ...this.write(target, depth + 1), ...this.write(beside, depth + 1) };
    this.#opened.pop();
    return written;
  }

  #targetOf(name: string): JsonObject | undefined {
    let at: Json | undefined = this.#root;
    for (const step of name.replace(/^#\/?/, '').split('/').filter(Boolean)) {
      at = isObject(at) ? at[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
    }
    return isObject(at) ? at : undefined;
  }

  #writeMember(written: JsonObject, member: string, value: Json): void {
    if (KEPT.has(member) || member === 'nullable') written[member] = value;
    else if (member === 'format' && FORMATS.has(String(value))) written.format = value;
    else if (!SAYS_NOTHING.has(member) && !(member === 'additionalProperties' && value === false)) {
      this.#losses.add(`\`${member}\` in a schema was dropped: the model does not know it.`);
    }
  }

  #writeType(written: JsonObject, type: Json | undefined): void {
    const types = Array.isArray(type) ? type.map(String) : typeof type === 'string' ? [type] : [];
    const real = types.filter((word) => word !== 'null');
    if (real.length < types.length) written.nullable = true;
    if (real.length === 1) written.type = String(real[0]).toUpperCase();
    else if (real.length > 1) written.anyOf = real.map((word) => ({ type: word.toUpperCase() }));
    else if (written.properties !== undefined) written.type = 'OBJECT';
  }

  #writeEnum(written: JsonObject, values: Json[]): void {
    if (values.includes(null)) written.nullable = true;
    const nonNull = values.filter((value) => value !== null);
    if (nonNull.every((value) => typeof value === 'string')) {
      written.type = 'STRING';
      written.enum = nonNull;
    } else this.#losses.add('`enum` in a schema was dropped: the model supports only strings as its values.');
  }

  #writeChoices(written: JsonObject, choices: Json[], depth: number): void {
    const real = choices.filter((choice) => !(isObject(choice) && choice.type === 'null'));
    if (real.length < choices.length) written.nullable = true;
    const [only] = real;
    if (real.length === 1 && isObject(only)) Object.assign(written, this.write(only, depth + 1), written);
    else if (real.length > 0) written.anyOf = real.map((choice) => this.#inner(choice, depth));
  }

  #writeAll(written: JsonObject, all: Json[], depth: number): void {
    for (const each of all) {
      if (!isObject(each)) continue;
      const { properties, required, ...others } = this.write(each, depth + 1);
      Object.assign(written, others);
      if (isObject(properties))
        written.properties = { ...(isObject(written.properties) && written.properties), ...properties };
      if (Array.isArray(required)) {
        written.required = [...(Array.isArray(written.required) ? written.required : []), ...required];
      }
    }
  }

  #loosened(why: string, schema: JsonObject): JsonObject {
    this.#losses.add(`A schema was loosened: it is ${why}, which the model does not know.`);
    return { ...schema, type: 'OBJECT' };
  }
}

function mapObject(object: JsonObject, map: (value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
}
