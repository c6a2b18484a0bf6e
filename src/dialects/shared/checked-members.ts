/**
 * Checks a request against the schema of its format. An error names the member and says, in the schema's words, what it
 * must be.
 */
import type { Static, TSchema } from 'typebox';
import type { GatewayError } from '../../canonical/errors.ts';
import type { Json, JsonObject } from '../../canonical/json.ts';
import { dotted, wrong } from './request-body.ts';
import { nodeOf, type SchemaNode } from './request-shape.ts';
import { validatorOf } from './validator.ts';

/**
 * Makes a check of bodies. The schema is compiled at the first call. The check throws `invalid_request` for the first
 * wrong member.
 */
export function memberCheck<S extends TSchema>(schema: S): (body: JsonObject, at?: string) => Static<S> & JsonObject {
  const validator = validatorOf(schema);
  return (body, at = '') => {
    if (validator().Check(body)) return body as Static<S> & JsonObject;
    const places = validator()
      .Errors(body)
      .map(({ instancePath }) => instancePath.split('/').slice(1));
    throw faultIn(nodeOf(schema), body, places, at === '' ? at : `${at}.`);
  };
}

function faultIn(
  { properties = {}, required = [] }: SchemaNode,
  body: JsonObject,
  places: string[][],
  at: string,
): GatewayError {
  for (const [member, node] of Object.entries(properties)) {
    if (body[member] === undefined && required.includes(member)) {
      return wrong(at + member, `is required: ${node.description ?? 'as the API describes it'}`);
    }
    const within = places.filter(([top]) => top === member);
    const [first, ...others] = within;
    if (!first) continue;
    const deepest = others.reduce((found, place) => (place.length > found.length ? place : found), first);
    const { path, description } = describedAlong(node, deepest);
    return wrong(at + dotted(path), `must be ${description ?? 'of the right type'}`);
  }
  return wrong(at, 'is wrong');
}

/** Finds the innermost schema node with a description on the path to the wrong value. */
function describedAlong(node: SchemaNode, place: readonly string[]): { path: string[]; description?: string } {
  let at: SchemaNode | undefined = node;
  let found = { path: place.slice(0, 1), ...(node.description !== undefined && { description: node.description }) };
  for (let depth = 1; depth < place.length && at; depth++) {
    at = innerOf(at, place[depth] ?? '');
    if (at?.description !== undefined) found = { path: place.slice(0, depth + 1), description: at.description };
  }
  return found;
}

function innerOf(node: SchemaNode, step: string): SchemaNode | undefined {
  for (const one of node.anyOf ?? [node]) {
    const inner = /^\d+$/.test(step) ? one.items : one.properties?.[step];
    if (inner) return inner;
  }
  return undefined;
}

const WHOLE = /^-?\d{1,15}$/;

/**
 * Converts the texts of a form to the types of the schema: form fields are always texts, and some clients send numbers
 * as texts in JSON too.
 */
export function typedMembers(schema: TSchema, body: JsonObject): JsonObject {
  const typed: JsonObject = { ...body };
  for (const [member, node] of Object.entries(nodeOf(schema).properties ?? {})) {
    const value = body[member];
    if (typeof value !== 'string') continue;
    const [{ type } = node] = node.anyOf ?? [];
    if (type === 'boolean' && (value === 'true' || value === 'false')) typed[member] = value === 'true';
    else if (type === 'integer' && WHOLE.test(value)) typed[member] = Number(value);
    else if (type === 'number' && !Number.isNaN(Number(value))) typed[member] = Number(value);
  }
  return typed;
}

/** Collects the members that `Call` has no field for, under the dialect's name. Returns `{}` if there are none. */
export function extrasOf(
  body: JsonObject,
  declared: ReadonlySet<string>,
  dialect: string,
): { [dialect: string]: JsonObject } {
  const extras: { [member: string]: Json } = {};
  for (const [member, value] of Object.entries(body))
    if (value !== undefined && !declared.has(member)) extras[member] = value;
  return Object.keys(extras).length > 0 ? { [dialect]: extras } : {};
}
