/**
 * Builds request schemas. A format's schema says once what its requests may contain. From it come the checks of the
 * reader, the list of unknown members (reported when a request is translated), the member names in warnings, and
 * `/openapi.json`. Schemas are built on first use: building all of them would slow the start.
 */
import { type TProperties, type TSchema, Type } from 'typebox';
import type { KnownMembers } from './unknown-members.ts';

/** Annotations on a schema. Validators ignore them. */
export interface Notes {
  /** The text that follows "must be" in an error. */
  description?: string;
  /** A sentence for the API documentation, shown instead of the description. */
  $about?: string;
  /** The schema's name in the API documentation. */
  $name?: string;
  /** The schema of the value, if the format's reader does the check in its own words. */
  $inside?: () => TSchema;
  /** The schema of an object by its `type`. An object of another type is passed on whole. */
  $types?: () => { readonly [type: string]: TSchema };
  /** The type of an object that has no `type`. */
  $otherwise?: string;
  /** Objects of other types are allowed. */
  $others?: true;
  /** Only the members named here are understood. */
  $closed?: true;
  /** A member that `Call` has no field for. Only providers of the same format receive it. */
  $aside?: true;
  /** Another spelling of a member that the API documentation shows: in Go both would be one field. */
  $spelling?: true;
  /** OpenAI's name for the member, as internal sentences use it. */
  $means?: string;
  default?: unknown;
}

/** An optional member that may be `null`: many clients write `null` for a default. */
export function open<S extends TSchema>(schema: S, description: string, notes: Notes = {}) {
  return Type.Optional(Type.Union([schema, Type.Null()], { description, ...notes }));
}

export const number = (minimum: number, maximum: number, notes?: Notes) =>
  open(Type.Number({ minimum, maximum }), `a number from ${minimum} to ${maximum}`, notes);
export const integerFrom = (minimum: number, notes?: Notes) =>
  open(Type.Integer({ minimum }), `an integer of at least ${minimum}`, notes);
/** An integer in a range; the minimum is 0 or 1 in most formats. */
export const whole = (minimum: number, maximum = Number.MAX_SAFE_INTEGER, notes?: Notes) => {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  return open(Type.Integer({ minimum, maximum }), `a whole number ${range}`, notes);
};
export const oneOf = <Word extends string>(words: readonly Word[], notes?: Notes) =>
  open(Type.Enum([...words]), `one of ${words.map((word) => `\`${word}\``).join(', ')}`, notes);
export const boolean = (notes?: Notes) => open(Type.Boolean(), '`true` or `false`', notes);
export const text = (notes?: Notes) => open(Type.String(), 'a string', notes);
export const object = (notes?: Notes) => open(Type.Object({}), 'an object', notes);
/** A member that is not checked. */
export const anything = (notes: Notes = {}) => Type.Optional(Type.Unknown({ ...notes }));

/** An object with no other members than these. */
export function closed<P extends TProperties>(properties: P, notes: Notes = {}) {
  return Type.Object(properties, { $closed: true, ...notes });
}

/** An object whose contents the reader checks itself. */
export function objectOf(inside: () => TSchema, notes: Notes = {}) {
  return Type.Object({}, { $inside: inside, ...notes });
}

/** An object whose schema depends on its `type`. */
export function byType(types: NonNullable<Notes['$types']>, notes: Notes = {}) {
  return Type.Object({}, { $types: types, ...notes });
}

/** A schema as the functions that walk it see it. */
export interface SchemaNode extends Notes {
  type?: string | readonly string[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  anyOf?: readonly SchemaNode[];
  items?: SchemaNode;
  properties?: { readonly [member: string]: SchemaNode };
  patternProperties?: { readonly [pattern: string]: SchemaNode };
  required?: readonly string[];
}

export function nodeOf(schema: TSchema): SchemaNode {
  return schema as SchemaNode;
}

/** The description of a top-level member: the text after "must be". */
export function describedAs(schema: TSchema, member: string): string {
  return nodeOf(schema).properties?.[member]?.description ?? 'as the API describes it';
}

/** The top-level members that `Call` has fields for. All others are extras. */
export function topMembers(schema: TSchema): ReadonlySet<string> {
  const { properties = {} } = nodeOf(schema);
  return new Set(Object.keys(properties).filter((member) => !properties[member]?.$aside));
}

/** The members that the format's reader understands, at all depths. */
export function knownMembers(schema: TSchema): () => KnownMembers {
  let known: KnownMembers | undefined;
  return () => {
    known ??= { deeper: deeperIn(nodeOf(schema)) };
    return known;
  };
}

function knownIn(node: SchemaNode | undefined): KnownMembers {
  if (!node) return 'all';
  if (node.$inside) return knownIn(nodeOf(node.$inside()));
  if (node.$types) return knownTypes(node.$types(), node.$otherwise);
  if (node.anyOf) return node.anyOf.map(knownIn).find((known) => known !== 'all') ?? 'all';
  if (node.items) {
    const each = knownIn(node.items);
    return each === 'all' ? 'all' : { each };
  }
  const { properties = {} } = node;
  if (node.$closed) return { members: Object.fromEntries(entriesOf(properties)) };
  const deeper = deeperIn(node);
  return Object.keys(deeper).length > 0 ? { deeper } : 'all';
}

function knownTypes(types: { readonly [type: string]: TSchema }, otherwise: string | undefined): KnownMembers {
  const known = Object.entries(types).map(([type, schema]): [string, KnownMembers] => {
    const inner = knownIn(nodeOf(schema));
    return [
      type,
      typeof inner === 'object' && 'members' in inner ? { members: { type: 'all', ...inner.members } } : inner,
    ];
  });
  return { types: Object.fromEntries(known), ...(otherwise !== undefined && { otherwise }) };
}

function deeperIn({ properties = {} }: SchemaNode): { [member: string]: KnownMembers } {
  return Object.fromEntries(entriesOf(properties).filter(([, known]) => known !== 'all'));
}

function entriesOf(properties: { readonly [member: string]: SchemaNode }): [string, KnownMembers][] {
  return Object.entries(properties).map(([member, node]) => [member, knownIn(node)]);
}

/** Maps OpenAI's member names to the format's names: `{max_tokens: 'generationConfig.maxOutputTokens'}`. */
export function callerNames(schema: TSchema): { readonly [member: string]: string } {
  const names: { [member: string]: string } = {};
  collectNames(nodeOf(schema), '', names);
  return names;
}

function collectNames(node: SchemaNode, path: string, names: { [member: string]: string }): void {
  const { anyOf: [first = node] = [] } = node;
  for (const [member, inner] of Object.entries(first.properties ?? {})) {
    const at = path === '' ? member : `${path}.${member}`;
    if (inner.$means !== undefined) names[inner.$means] = at;
    collectNames(inner, at, names);
  }
}
