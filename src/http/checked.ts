/** Validates bodies and queries against a schema. The error names the wrong member and what it must be. */

import type { Static, TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { GatewayError } from '../canonical/errors.ts';
import { parseBody } from '../dialects/shared/request-body.ts';
import type { SchemaFault } from '../dialects/shared/validator.ts';

/**
 * Validator of bodies, compiled on first use. Throws GatewayError `invalid_request` with `param`. With `takesNul`, only these members may
 * contain NUL, which Postgres stores in no text.
 */
export function createBodyCheck<S extends TSchema>(
  schema: S,
  takesNul?: readonly string[],
): (bytes: Uint8Array) => Static<S> {
  const check = createCheck(schema);
  return (bytes) => {
    const body = parse(bytes);
    const checked = check(body);
    // In JSON it can only be written as an escape.
    if (takesNul && bufferOf(bytes).includes('\\u0000')) refuseNul(body, '', takesNul);
    return checked;
  };
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength);

function refuseNul(value: unknown, at: string, except: readonly string[] = []): void {
  if (typeof value === 'string' && value.includes('\0')) throw hasNul(at);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (except.includes(name)) continue;
    const isItem = Array.isArray(value);
    if (!isItem && name.includes('\0')) throw hasNul(at || 'body');
    refuseNul(member, isItem ? `${at}[${name}]` : (at && `${at}.${name}`) || name);
  }
}

const hasNul = (param: string) => wrong(param, 'must not contain NUL (\\u0000)');

/** The same for queries. Integers are parsed from text; parameters that are not in the schema are ignored. */
export function createQueryCheck<S extends TObject>(schema: S): (query: URLSearchParams) => Static<S> {
  const check = createCheck(schema);
  const members = Object.entries(schema.properties);
  return (query) => {
    const values: { [name: string]: string | number } = {};
    for (const [name, member] of members) {
      const text = query.get(name);
      if (text === null || text === '') continue;
      if (text.includes('\0')) throw hasNul(name);
      values[name] = 'type' in member && member.type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text;
    }
    return check(values);
  };
}

function createCheck<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  let compiled: ReturnType<typeof Compile<S>> | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return value as Static<S>;
    throw firstFault(schema, compiled.Errors(value) as SchemaFault[]);
  };
}

function parse(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return {};
  return parseBody(bytes, 'The body is not valid JSON.');
}

function firstFault(schema: TSchema, faults: SchemaFault[]): GatewayError {
  // The fault of a union as a whole (`anyOf`) is clearer than the faults of its members.
  const fault = faults.find((one) => one.keyword === 'anyOf') ?? faults.find((one) => one.keyword !== 'boolean');
  if (!fault) return new GatewayError('invalid_request', 'The request does not match its schema.');
  const at = memberName(fault.instancePath);
  const inside = (member: string) => (at ? `${at}.${member}` : member);
  const missing = fault.params.requiredProperties?.[0];
  if (missing !== undefined) return wrong(inside(missing), 'is missing');
  const unknown = fault.params.additionalProperties?.[0];
  if (unknown !== undefined) return wrong(inside(unknown), 'is not a known member');
  const wanted = descriptionAt(schema, fault.schemaPath) ?? choicesAt(schema, fault.schemaPath);
  return wrong(at, wanted ? `must be ${wanted}` : fault.message);
}

function wrong(param: string, sentence: string): GatewayError {
  if (!param) return new GatewayError('invalid_request', 'The body must be a JSON object.');
  return new GatewayError('invalid_request', `"${param}" ${sentence}.`, { param });
}

/** "/budget/day" -> "budget.day", "/models/0" -> "models[0]". */
function memberName(pointer: string): string {
  let name = '';
  for (const step of pointer.split('/').slice(1))
    name += /^\d+$/.test(step) ? `[${step}]` : (name && `.${step}`) || step;
  return name;
}

/** The schema's description of the member; descriptions are written to follow "must be". */
function descriptionAt(schema: TSchema, pointer: string): string | undefined {
  const { description } = memberAt(schema, pointer);
  return typeof description === 'string' ? description : undefined;
}

/** Of a union of texts alone. */
function choicesAt(schema: TSchema, pointer: string): string | undefined {
  const { anyOf } = memberAt(schema, pointer);
  const texts = Array.isArray(anyOf) ? anyOf.map((one) => (one as { const?: unknown }).const) : [];
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) return undefined;
  return `one of ${texts.map((text) => JSON.stringify(text)).join(', ')}`;
}

function memberAt(schema: TSchema, pointer: string): { description?: unknown; anyOf?: unknown } {
  let at: unknown = schema;
  for (const step of pointer.split('/').slice(1)) {
    at = typeof at === 'object' && at !== null ? (at as { [member: string]: unknown })[step] : undefined;
  }
  return (at ?? {}) as { description?: unknown; anyOf?: unknown };
}
