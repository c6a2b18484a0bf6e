/**
 * What a request of a format may hold, said once. A format's schema is what its reader checks; with the notes that stand on it
 * it also says what is understood (all else is reported when the request is translated), what a member is called in warnings,
 * and what `/openapi.json` shows. Nothing here runs before it is asked for: the schemas of all formats would slow the start.
 */
import { type TProperties, type TSchema, Type } from 'typebox';
import type { Known } from './unknown-members.ts';

/** What a schema says beside its type; validators pass over it. */
export interface Notes {
  /** What follows "must be" in an error. */
  description?: string;
  /** A sentence for readers of the documentation, in the place of the description. */
  $about?: string;
  /** The name under which the documentation shows the schema. */
  $name?: string;
  /** What the value holds, where the reader of the format checks that in its own words. */
  $inside?: () => TSchema;
  /** What an object holds by its `type`; what is of another type is passed whole. */
  $types?: () => { readonly [type: string]: TSchema };
  /** The type of an object that names none. */
  $otherwise?: string;
  /** Objects of other types may stand here too. */
  $others?: true;
  /** Of an object only the members named here are understood. */
  $closed?: true;
  /** A member that no word of a call stands for: told to providers of the same format alone. */
  $aside?: true;
  /** What the member is called where a sentence speaks of it in OpenAI's words. */
  $means?: string;
  default?: unknown;
}

/** Many clients write `null` for a member that they leave open. */
export function open<S extends TSchema>(schema: S, description: string, notes: Notes = {}) {
  return Type.Optional(Type.Union([schema, Type.Null()], { description, ...notes }));
}

export const number = (minimum: number, maximum: number, notes?: Notes) =>
  open(Type.Number({ minimum, maximum }), `a number from ${minimum} to ${maximum}`, notes);
export const integerFrom = (minimum: number, notes?: Notes) =>
  open(Type.Integer({ minimum }), `an integer of at least ${minimum}`, notes);
/** A whole number; `least` is 0 or 1 in most formats. */
export const whole = (minimum: number, maximum = Number.MAX_SAFE_INTEGER, notes?: Notes) => {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  return open(Type.Integer({ minimum, maximum }), `a whole number ${range}`, notes);
};
export const oneOf = <Word extends string>(words: readonly Word[], notes?: Notes) =>
  open(Type.Enum([...words]), `one of ${words.map((word) => `\`${word}\``).join(', ')}`, notes);
export const boolean = (notes?: Notes) => open(Type.Boolean(), '`true` or `false`', notes);
export const text = (notes?: Notes) => open(Type.String(), 'a string', notes);
export const object = (notes?: Notes) => open(Type.Object({}), 'an object', notes);
/** Taken as it comes. */
export const anything = (notes: Notes = {}) => Type.Optional(Type.Unknown({ ...notes }));

/** An object of which these members alone are understood. */
export function closed<P extends TProperties>(properties: P, notes: Notes = {}) {
  return Type.Object(properties, { $closed: true, ...notes });
}

/** An object of which no more is checked here than that it is one. */
export function objectOf(inside: () => TSchema, notes: Notes = {}) {
  return Type.Object({}, { $inside: inside, ...notes });
}

/** An object by its `type`. */
export function byType(types: NonNullable<Notes['$types']>, notes: Notes = {}) {
  return Type.Object({}, { $types: types, ...notes });
}

/** A schema as everything that walks it sees it. */
export interface SchemaNode extends Notes {
  type?: string | readonly string[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  anyOf?: readonly SchemaNode[];
  items?: SchemaNode;
  properties?: { readonly [member: string]: SchemaNode };
  required?: readonly string[];
}

export function nodeOf(schema: TSchema): SchemaNode {
  return schema as SchemaNode;
}

/** What a member at the top must be. */
export function describedAs(schema: TSchema, member: string): string {
  return nodeOf(schema).properties?.[member]?.description ?? 'as the API describes it';
}

/** The members that the call of a format says in its own words; all others are extras. */
export function saidMembers(schema: TSchema): ReadonlySet<string> {
  const { properties = {} } = nodeOf(schema);
  return new Set(Object.keys(properties).filter((member) => !properties[member]?.$aside));
}

/** What a reader of the format takes from a request, below its top too. */
export function knownMembers(schema: TSchema): () => Known {
  let known: Known | undefined;
  return () => {
    known ??= { deeper: deeperIn(nodeOf(schema)) };
    return known;
  };
}

function knownIn(node: SchemaNode | undefined): Known {
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

function knownTypes(types: { readonly [type: string]: TSchema }, otherwise: string | undefined): Known {
  const known = Object.entries(types).map(([type, schema]): [string, Known] => {
    const inner = knownIn(nodeOf(schema));
    return [
      type,
      typeof inner === 'object' && 'members' in inner ? { members: { type: 'all', ...inner.members } } : inner,
    ];
  });
  return { types: Object.fromEntries(known), ...(otherwise !== undefined && { otherwise }) };
}

function deeperIn({ properties = {} }: SchemaNode): { [member: string]: Known } {
  return Object.fromEntries(entriesOf(properties).filter(([, known]) => known !== 'all'));
}

function entriesOf(properties: { readonly [member: string]: SchemaNode }): [string, Known][] {
  return Object.entries(properties).map(([member, node]) => [member, knownIn(node)]);
}

/** The names that members of a format have in sentences that speak in OpenAI's words: `{max_tokens: 'generationConfig.maxOutputTokens'}`. */
export function callersNames(schema: TSchema): { readonly [member: string]: string } {
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
