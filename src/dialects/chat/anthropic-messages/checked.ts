/** Checks values against the schemas of a messages request. */

import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { GatewayError } from '../../../canonical/errors.ts';
import { wrong } from '../../shared/request-body.ts';
import type { SchemaFault } from '../../shared/validator.ts';

const compiled = new WeakMap<TSchema, ReturnType<typeof Compile>>();

/**
 * Returns `value`, typed by `schema`. Throws `invalid_request` that names the wrong member. `at`: the path of `value`
 * in the body.
 */
export function checked<S extends TSchema>(schema: S, value: unknown, at = ''): Static<S> {
  let check = compiled.get(schema);
  if (!check) {
    check = Compile(schema) as ReturnType<typeof Compile>;
    compiled.set(schema, check);
  }
  if (check.Check(value)) return value as Static<S>;
  throw faultOf(schema, check.Errors(value) as SchemaFault[], at);
}

/**
 * Picks the deepest error, because it is the most specific. For errors inside a union, the union's own description is
 * used.
 */
function faultOf(schema: TSchema, faults: readonly SchemaFault[], at: string): GatewayError {
  const depth = ({ instancePath }: SchemaFault) => instancePath.split('/').length;
  const deepest = Math.max(...faults.map(depth));
  const candidates = faults.filter((fault) => depth(fault) === deepest);
  const fault =
    candidates.find((one) => one.keyword === 'anyOf' && descriptionAt(schema, one.schemaPath) !== undefined) ??
    candidates.find((one) => one.params.requiredProperties !== undefined) ??
    candidates[0];
  const member = memberPath(at, fault?.instancePath ?? '');
  const missing = fault?.params.requiredProperties?.[0];
  if (missing !== undefined) {
    const wanted = fault && descriptionAt(schema, `${fault.schemaPath}/properties/${missing}`);
    return wrong(member ? `${member}.${missing}` : missing, `is required${wanted ? `: ${wanted}` : ''}`);
  }
  if (!member) return new GatewayError('invalid_request', 'The body must be a JSON object.');
  return wrong(member, `must be ${(fault && descriptionAt(schema, fault.schemaPath)) ?? 'of the right type'}`);
}

/** `memberPath('messages[0]', '/content/1/type')` is `messages[0].content[1].type`. */
function memberPath(at: string, pointer: string): string {
  let path = at;
  for (const step of pointer.split('/').slice(1)) {
    if (/^\d+$/.test(step)) path += `[${step}]`;
    else path += path === '' ? step : `.${step}`;
  }
  return path;
}

/** The description of the schema at a pointer, or of the optional member around it. */
function descriptionAt(schema: TSchema, pointer: string): string | undefined {
  let at: unknown = schema;
  for (const step of pointer.split('/').slice(1)) {
    at = typeof at === 'object' && at !== null ? (at as { [member: string]: unknown })[step] : undefined;
  }
  if (typeof at !== 'object' || at === null) return undefined;
  const { description, anyOf } = at as { description?: unknown; anyOf?: { description?: unknown }[] };
  const found = description ?? anyOf?.[0]?.description;
  return typeof found === 'string' ? found : undefined;
}
